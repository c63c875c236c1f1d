#include "cost/step/host_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "cost/step/step_cost.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

HostEntry entry(const char* framework, const char* gpu, const char* precision, const char* model,
                std::int64_t rows, std::vector<std::string> versions = {}) {
  HostEntry e;
  e.framework = framework, e.gpu = gpu, e.precision = precision, e.model = model;
  e.rows = rows, e.versions = std::move(versions);
  return e;
}

}  // namespace

TEST_CASE("The host entry that agrees in most points is taken and one that names another never") {
  const std::vector<HostEntry> table{entry("vllm", "", "", "", 500),
                                     entry("vllm", "h100-sxm", "fp8", "", 50),
                                     entry("vllm", "h100-sxm", "fp8", "llama-3.1-70b", 10, {"0.9"}),
                                     entry("vllm", "h100-sxm", "fp8", "llama-3.1-70b", 20, {"0.8"}),
                                     entry("sglang", "h100-sxm", "fp8", "", 5)};
  const auto find = [&](HostQuery q) {
    const HostEntry* e = find_host(table, q);
    return e ? e - table.data() : -1;
  };
  CHECK(find({"vllm", "0.9", "h100-sxm", "fp8", "llama-3.1-70b"}) == 2);
  CHECK(find({"vllm", "0.8", "h100-sxm", "fp8", "llama-3.1-70b"}) == 3);
  // A version between the published ones: more runs decide.
  CHECK(find({"vllm", "0.85", "h100-sxm", "fp8", "llama-3.1-70b"}) == 3);
  CHECK(find({"vllm", "0.9", "h100-sxm", "fp8", "qwen3-32b"}) == 1);
  CHECK(find({"vllm", "0.9", "h100-sxm", "bf16", "llama-3.1-70b"}) == 0);
  CHECK(find({"vllm", "0.9", "b200-sxm", "fp8", "llama-3.1-70b"}) == 0);
  CHECK(find({"sglang", "", "h100-sxm", "fp8", "llama-3.1-70b"}) == 4);
  CHECK(find({"sglang", "", "b200-sxm", "fp8", "llama-3.1-70b"}) == -1);
  CHECK(find({"trtllm", "", "h100-sxm", "fp8", ""}) == -1);
  CHECK(find_host({}, {"vllm", "", "", "", ""}) == nullptr);
}

TEST_CASE("Every shipped host entry is that of a catalog part and within its bounds") {
  const spec::Catalog catalog;
  REQUIRE_FALSE(known_hosts().empty());
  std::set<std::string> general;
  for (const HostEntry& e : known_hosts()) {
    CAPTURE(e.framework);
    CAPTURE(e.gpu);
    CAPTURE(e.precision);
    CAPTURE(e.model);
    if (!e.framework.empty())
      CHECK(std::ranges::find(framework_names, std::string_view(e.framework)) !=
            framework_names.end());
    if (!e.gpu.empty()) CHECK_NOTHROW(catalog.gpu(e.gpu));
    if (!e.model.empty()) CHECK(catalog.model(e.model).num_layers == e.layers);
    if (!e.precision.empty())
      CHECK(std::set<std::string>{"bf16", "fp8", "fp4", "int4"}.contains(e.precision));
    if (e.gpu.empty() && e.precision.empty() && e.model.empty()) general.insert(e.framework);
    CHECK(e.rows >= 2);
    CHECK(e.layers > 0);
    const HostProfile& p = e.profile;
    CHECK(p.decode_scale > 0.4);
    CHECK(p.decode_scale < 2.1);
    CHECK(p.prefill_scale > 0.4);
    CHECK(p.prefill_scale < 2.5);
    CHECK(p.step_us <= 10'000);
    CHECK(p.sequence_us <= 200);
    CHECK(p.prefill_us <= 200'000);
    CHECK(p.request_us <= 300'000);
    // Scales stand in place of step and prefill times, never beside them.
    if (p.decode_scale != 1 || p.prefill_scale != 1) CHECK(p.step_us + p.prefill_us == 0);
  }
  // The runs of SGLang are of two models alone, one of them with cold starts.
  CHECK(general == std::set<std::string>{"", "trtllm", "vllm"});
}

TEST_CASE("Prefill time of an entry for other models scales with the layers and the rest stays") {
  const spec::Catalog catalog;
  spec::ModelSpec model = catalog.model("qwen3-8b");
  model.id = "nobody-ran-this";
  for (const Framework f : {Framework::vllm, Framework::sglang, Framework::trtllm}) {
    const auto host = [&](std::int64_t layers) {
      model.num_layers = layers;
      return known_host(model, catalog.gpu("l4"), f, "");
    };
    const HostProfile once = host(20), twice = host(40);
    CHECK(twice.prefill_us == doctest::Approx(2 * once.prefill_us));
    CHECK(twice.step_us == once.step_us);
    CHECK(twice.request_us == once.request_us);
    const HostEntry* e = find_host(known_hosts(), {framework_names[static_cast<std::size_t>(f)], "",
                                                   "l4", "bf16", "nobody-ran-this"});
    REQUIRE(e);
    CHECK(once.prefill_us == doctest::Approx(e->profile.prefill_us * 20 / e->layers));
  }
}

TEST_CASE("The precision of a model is that of its weights") {
  const spec::Catalog catalog;
  CHECK(precision_of(catalog.model("llama-3.1-8b")) == "bf16");
  CHECK(precision_of(catalog.model("llama-3.1-70b-fp8")) == "fp8");
  CHECK(precision_of(catalog.model("deepseek-r1")) == "fp8");
  CHECK(precision_of(catalog.model("gpt-oss-120b")) == "fp4");
  CHECK(precision_of(catalog.model("deepseek-v3.1-nvfp4")) == "fp4");
  CHECK(precision_of(catalog.model("kimi-k2")) == "fp8");
}
