#include <doctest/doctest.h>

#include "cost/library/cost_library.h"
#include "cost/library/transfer.h"
#include "cost/step/rules.h"
#include "cost/step/toy_library.h"

using namespace kvsim;
using namespace kvsim::cost;
using namespace kvsim::cost::testing;

namespace {

struct Fixture {
  spec::Catalog catalog;
  spec::GpuSpec h100 = catalog.gpu("h100-sxm");
  OperatorQuery query{"gemm", "bf16", "", "", "", {"vllm", "sglang"}};
  std::optional<ChosenOperator> choose(std::vector<CostFile> files) {
    kept = std::make_unique<CostLibrary>(catalog, std::move(files));
    return kept->choose(h100, query);
  }
  std::unique_ptr<CostLibrary> kept;
};

CostFile only(const char* gpu, const char* framework, const char* dtype, std::int64_t rows = 100) {
  CostFile f = toy_file(gpu, framework);
  f.operators = {toy_fit("gemm", toy_gemm, dtype)};
  f.operators[0].errors.n = rows;
  return f;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "The nearest kind of fit is chosen whatever the order of the files") {
  const std::vector<std::pair<Kinship, CostFile>> nearest_first{
      {Kinship::own, only("h100-sxm", "vllm", "bf16")},
      {Kinship::framework, only("h100-sxm", "sglang", "bf16")},
      {Kinship::format, only("h100-sxm", "vllm", "fp8")},
      {Kinship::relative, only("h200-sxm", "vllm", "bf16")},
      {Kinship::distant, only("a100-sxm-80g", "vllm", "bf16")}};
  for (std::size_t first = 0; first < nearest_first.size(); ++first) {
    std::vector<CostFile> forth, back;
    for (std::size_t i = first; i < nearest_first.size(); ++i) {
      forth.push_back(nearest_first[i].second);
      back.insert(back.begin(), nearest_first[i].second);
    }
    for (const auto& files : {forth, back}) {
      const auto chosen = choose(files);
      REQUIRE(chosen);
      CHECK(chosen->kinship == nearest_first[first].first);
      CHECK(chosen->file->id == nearest_first[first].second.id);
      CHECK(chosen->gpu->id == nearest_first[first].second.gpu);
    }
  }
  CHECK_FALSE(choose({}));
}

TEST_CASE_FIXTURE(Fixture, "Kinship adds to the spread of a fit") {
  const auto added = [&](const char* gpu, const char* framework, const char* dtype) {
    const auto chosen = choose({only(gpu, framework, dtype)});
    CHECK(chosen->log_sigma == doctest::Approx(0.1));
    return chosen->shared_sigma;
  };
  CHECK(added("h100-sxm", "vllm", "bf16") == 0);
  CHECK(added("h100-sxm", "sglang", "bf16") == doctest::Approx(0.12));
  CHECK(added("h100-sxm", "vllm", "fp8") == doctest::Approx(0.15));
  CHECK(added("h200-sxm", "vllm", "bf16") > 0);
  CHECK(added("a100-sxm-80g", "vllm", "bf16") > added("h200-sxm", "vllm", "bf16"));
}

TEST_CASE_FIXTURE(Fixture, "A moved fit is scaled by the datasheets and an own one is left alone") {
  const Gemm wide{1, 16384, 16384, *find_format("bf16")};
  const double own =
      choose({only("h100-sxm", "vllm", "bf16")})->model.microseconds(wide, Buffers::cold);
  const double bytes = 2.0 * (16384.0 * 16384 + 2 * 16384);
  CHECK(own == doctest::Approx(7 + bytes / 2000e3));
  const double moved =
      choose({only("h200-sxm", "vllm", "bf16")})->model.microseconds(wide, Buffers::cold);
  const double ratio = device_of(h100).bandwidth / device_of(catalog.gpu("h200-sxm")).bandwidth;
  CHECK(moved == doctest::Approx(7 + bytes / (2000e3 * ratio)).epsilon(0.02));
}

TEST_CASE_FIXTURE(Fixture,
                  "More rows decide between equals and frameworks go in the order asked for") {
  CostFile few = only("h100-sxm", "vllm", "bf16", 10), many = only("h100-sxm", "vllm", "bf16", 20);
  many.id = "many";
  CHECK(choose({few, many})->file->id == "many");
  CHECK(choose({many, few})->file->id == "many");
  query.frameworks = {"sglang", "vllm"};
  CHECK(choose({few, only("h100-sxm", "sglang", "bf16", 1)})->file->framework == "sglang");
}

TEST_CASE_FIXTURE(Fixture, "A patched GPU has no own measurements") {
  h100.memory_bandwidth = Bandwidth(h100.memory_bandwidth.value() * 2);
  const auto chosen = choose({only("h100-sxm", "vllm", "bf16")});
  REQUIRE(chosen);
  CHECK(chosen->kinship == Kinship::relative);
  const Gemm wide{1, 16384, 16384, *find_format("bf16")};
  const double bytes = 2.0 * (16384.0 * 16384 + 2 * 16384);
  CHECK(chosen->model.microseconds(wide, Buffers::cold) ==
        doctest::Approx(7 + bytes / 4000e3).epsilon(0.02));
}

TEST_CASE_FIXTURE(Fixture, "Another format stands in on the GPU itself alone") {
  CHECK(choose({only("h100-sxm", "vllm", "fp8")}));
  CHECK_FALSE(choose({only("h200-sxm", "vllm", "fp8")}));
}

TEST_CASE("A refresh of an architecture is a sister with the same captured graphs") {
  const spec::Catalog catalog;
  const CostLibrary library(catalog, {only("b200-sxm", "vllm", "bf16")});
  const OperatorQuery query{"gemm", "bf16", "", "", "", {"vllm"}};
  const spec::GpuSpec b200 = catalog.gpu("b200-sxm"), b300 = catalog.gpu("b300-sxm");
  REQUIRE(b200.architecture != b300.architecture);
  CHECK(library.choose(b300, query)->kinship == Kinship::relative);
  CHECK(library.choose(catalog.gpu("h100-sxm"), query)->kinship == Kinship::distant);
  CHECK(cuda_graph_limit(8192, 1024, 0, b300) == cuda_graph_limit(8192, 1024, 0, b200));
  CHECK(step::rules_of(Framework::vllm, b300).reduce_backends ==
        step::rules_of(Framework::vllm, b200).reduce_backends);
  CHECK(step::rules_of(Framework::sglang, b300).fused_reduce_norm);
}
