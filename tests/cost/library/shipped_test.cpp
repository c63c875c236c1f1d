#include <doctest/doctest.h>

#include <set>
#include <string>

#include "cost/library/cost_document.h"
#include "cost/operators/operator_model.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

TEST_CASE("Every shipped cost file matches the forms of this build") {
  const spec::Catalog catalog;
  std::set<std::string> kernels;
  for (const spec::Catalog::CostText& text : catalog.cost_texts()) {
    CAPTURE(text.name);
    INFO("run: cmake --build build/release --target kvsim_update_cost");
    CHECK(text.is_embedded);
    CostFile file;
    REQUIRE_NOTHROW(
        file = read_cost(config::Document::parse(std::string(text.text), std::string(text.name))));
    CHECK(file.id == text.id);
    CHECK(file.gpu == text.gpu);
    CHECK_FALSE(file.sources.empty());
    // What states assumptions in place of measurements says so first, and is written by hand.
    const bool is_assumed = file.sources.front().starts_with("no measurement");
    // The others' own text, byte for byte: it was written by this writer.
    if (!is_assumed) CHECK(cost_json(file) == text.text);
    for (const OperatorFit& f : file.operators) {
      kernels.insert(f.kernel);
      CHECK((f.errors.n > 0) != is_assumed);
      CHECK(f.errors.mape < 0.5);
      CHECK(f.log_quantiles.front() <= f.log_quantiles.back());
    }
  }
  if (catalog.cost_texts().empty()) return;
  for (const char* kernel : {"gemm", "decode_attn", "prefill_attn", "mla", "mla_module", "moe",
                             "comm", "moe_a2a", "memops", "vidur_layer_ops"})
    CHECK_MESSAGE(kernels.contains(kernel), kernel);
}
