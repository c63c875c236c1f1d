#include "calibrate/validation.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "config/document.h"
#include "diag/diagnostic.h"

using namespace kvsim;
using namespace kvsim::calibrate;
namespace fs = std::filesystem;

namespace {

struct Temporary {
  explicit Temporary(const std::string& text, const std::string& name = "validation_test.csv")
      : path((fs::path(KVSIM_BINARY_DIR) / name).string()) {
    config::write_file(path, text);
  }
  ~Temporary() { fs::remove(path); }
  std::string path;
};

constexpr const char* gemm = "gpu,framework,version,backend,dtype,m,n,k,latency_us\n";

}  // namespace

TEST_CASE("groups count every predicted row once and skipped rows are named") {
  const Temporary file(std::string(gemm) +
                       "h100_sxm,vllm,1,x,bf16,16,4096,4096,10\n"
                       "h100_sxm,vllm,1,x,bf16,32,4096,4096,12\n"
                       "h100_sxm,vllm,1,x,fp8,16,4096,4096,9\n"
                       "h100_sxm,vllm,1,x,fp3,16,4096,4096,9\n"
                       "abacus,vllm,1,x,bf16,16,4096,4096,9\n");
  const Validation v = validate({file.path}, spec::Catalog());
  CHECK(v.rows == 5);
  REQUIRE(v.groups.size() == 2);
  CHECK(v.groups[0].gpu == "h100-sxm");
  CHECK(v.groups[0].dtype == "bf16");
  CHECK(v.groups[0].errors.n == 2);
  CHECK(v.groups[1].errors.n == 1);
  CHECK(v.overall.n == 3);
  CHECK(v.overall.mape ==
        doctest::Approx((2 * v.groups[0].errors.mape + v.groups[1].errors.mape) / 3));
  REQUIRE(v.skipped.size() == 2);
  CHECK(v.skipped[0].reason == "GPU \"abacus\" is not in the catalog");
  CHECK(v.skipped[1].reason == "dtype \"fp3\" is not known");
  CHECK(v.skipped[1].first == file.path + ":5");
  CHECK(v.conditions.size() == 1);
}

TEST_CASE("doubled latencies halve the ratio of every point") {
  const Temporary once(std::string(gemm) + "h100_sxm,vllm,1,x,bf16,16,4096,4096,10\n", "once.csv");
  const Temporary twice(std::string(gemm) + "h100_sxm,vllm,1,x,bf16,16,4096,4096,20\n",
                        "twice.csv");
  const auto a = validate({once.path}, spec::Catalog()),
             b = validate({twice.path}, spec::Catalog());
  CHECK(a.points.at(0).predicted == b.points.at(0).predicted);
  CHECK(b.points.at(0).measured == 2 * a.points.at(0).measured);
}

TEST_CASE("every bad cell of every file is reported at once") {
  const Temporary one(
      std::string(gemm) + "h100_sxm,x,1,x,bf16,1,128,128,fast\nh100_sxm,x,1,x,bf16,1,0,128,5\n",
      "one.csv");
  const Temporary two("what,is,this\n1,2,3\n", "two.csv");
  try {
    validate({one.path, two.path}, spec::Catalog());
    FAIL("bad files were accepted");
  } catch (const InputError& error) {
    REQUIRE(error.diagnostics().size() == 3);
    CHECK(error.diagnostics()[0].line == 2);
    CHECK(error.diagnostics()[1].line == 3);
    CHECK(error.diagnostics()[2].code == "measurement-kind");
  }
  CHECK_THROWS_AS(validate({"no/such.csv"}, spec::Catalog()), IoError);
}

TEST_CASE("nearly all published kernel rows are predicted") {
  const fs::path data = fs::path(KVSIM_SOURCE_DIR) / ".." / "shared" / "data" / "kernels";
  if (!fs::exists(data)) {
    MESSAGE("skipped: no measurements in ", data.string());
    return;
  }
  // A small file of each kind; the whole set is what the acceptance check runs.
  const spec::Catalog catalog;
  for (const char* name :
       {"decode_attn_a100_sxm", "prefill_attn_rtx_pro_6000_server", "gemm_a100_sxm", "mla_l40s",
        "mla_module_b200_sxm", "mla_bmm", "moe_rtx_pro_6000_server", "comm", "moe_a2a", "memops",
        "vidur_layer_ops"}) {
    CAPTURE(name);
    const Validation v = validate({(data / (std::string(name) + ".csv")).string()}, catalog);
    CHECK(static_cast<double>(v.overall.n) >= 0.98 * static_cast<double>(v.rows));
    CHECK(v.overall.mape < 0.7);
    const std::int64_t in_groups =
        std::accumulate(v.groups.begin(), v.groups.end(), std::int64_t{0},
                        [](std::int64_t sum, const GroupErrors& g) { return sum + g.errors.n; });
    CHECK(in_groups == v.overall.n);
  }
}
