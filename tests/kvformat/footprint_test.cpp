#include "kvformat/footprint.h"

#include <doctest/doctest.h>

#include "spec/catalog.h"

using namespace kvsim;
using kvformat::footprint;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}
const kvformat::KvDtype& dtype(const char* name) { return *kvformat::find_kv_dtype(name); }
double per_token(const char* model, const char* format, spec::ParallelPlan plan = {}) {
  return footprint(catalog().model(model), dtype(format), {plan, 0, {}}).bytes_per_token;
}

}  // namespace

TEST_CASE("heads are split over tensor parallel ranks and replicated beyond their number") {
  CHECK(per_token("llama-3-70b", "bf16") == 327680);
  CHECK(per_token("llama-3-70b", "bf16", {8}) == 40960);
  CHECK(per_token("qwen3-235b-a22b", "bf16", {4}) == 48128);
  CHECK(per_token("qwen3-235b-a22b", "bf16", {8}) == 48128);
  CHECK(per_token("llama-3-70b", "fp8") == 163840);
}

TEST_CASE("an MLA latent is whole on every rank") {
  CHECK(per_token("deepseek-v3", "bf16") == 61 * 576 * 2);
  CHECK(per_token("deepseek-v3", "bf16", {8}) == 61 * 576 * 2);
  CHECK(per_token("deepseek-v3", "fp8") == 61 * 576);
  CHECK(per_token("deepseek-v3", "fp8_ds_mla") == 61 * 656);
}

TEST_CASE("sparse attention keeps the packed latent and an indexer key") {
  CHECK(per_token("deepseek-v3.2", "bf16") == 61 * (1152 + 256));
  CHECK(per_token("deepseek-v3.2", "fp8") == 61 * (656 + 132));
  // IndexShare: 21 of 78 layers own an indexer.
  CHECK(per_token("glm-5.2", "bf16") == 78 * 1152 + 21 * 256);
}

TEST_CASE("compressed attention stores one entry per ratio tokens") {
  CHECK(per_token("deepseek-v4-flash", "bf16") == 6880);
  // 21 layers of (584 + 68) / 4 and 20 of 584 / 128 bytes.
  CHECK(per_token("deepseek-v4-flash", "fp8") == 21 * 163.0 + 20 * 4.5625);
}

TEST_CASE("windows are charged full and split by heads") {
  const auto model = catalog().model("gemma-3-27b");
  const auto whole = footprint(model, dtype("bf16"));
  CHECK(whole.bytes_per_token == 81920);
  CHECK(whole.bytes_per_sequence == 436207616);
  CHECK(footprint(model, dtype("bf16"), {{2}, 0, {}}).bytes_per_sequence == 218103808);
  // Below the window only the tokens that are there count.
  CHECK(whole.sequence_bytes(Tokens(100)).value() == 62 * 8192 * 2 * 100 / 2);
  CHECK(whole.sequence_bytes(Tokens(131072)).value() == 131072LL * 81920 + 436207616);
}

TEST_CASE("recurrent states are constant and split by heads") {
  const auto model = catalog().model("qwen3-next-80b-a3b");
  const auto whole = footprint(model, dtype("bf16"));
  CHECK(whole.bytes_per_sequence == 77266944);
  CHECK(footprint(model, dtype("bf16"), {{2}, 0, {}}).bytes_per_sequence == 77266944 / 2);
  const auto half = footprint(model, dtype("bf16"), {{}, 0, spec::DType::bfloat16});
  CHECK(half.bytes_per_sequence == 36 * (524288 + 24576) * 2);
  const auto& state = *model.layer_groups[0].recurrent;
  CHECK(kvformat::recurrent_state_bytes(state, 1, {}, 2).value() == 524288 * 4 + 8192 * 5 * 2);
}

TEST_CASE("KIVI keeps the newest tokens wide") {
  const auto model = catalog().model("llama-2-7b");
  const double wide =
      static_cast<double>(footprint(model, dtype("f16")).sequence_bytes(Tokens(498)).value());
  const double packed =
      static_cast<double>(footprint(model, dtype("kivi2")).sequence_bytes(Tokens(498)).value());
  CHECK(wide / packed == doctest::Approx(2.5231158961367957).epsilon(1e-9));
  CHECK(footprint(model, dtype("kivi2")).sequence_bytes(Tokens(64)) ==
        footprint(model, dtype("f16")).sequence_bytes(Tokens(64)));
}

TEST_CASE("pipeline stages take the remainder from the last but one backwards") {
  const auto sizes = [](std::int64_t layers, int pp) {
    std::vector<std::int64_t> list;
    for (int s = 0; s < pp; ++s) {
      const auto r = kvformat::stage_layers(layers, pp, s);
      CHECK(r.first == (s == 0 ? 0 : kvformat::stage_layers(layers, pp, s - 1).last));
      list.push_back(r.last - r.first);
    }
    CHECK(kvformat::stage_layers(layers, pp, pp - 1).last == layers);
    return list;
  };
  CHECK(sizes(80, 4) == std::vector<std::int64_t>{20, 20, 20, 20});
  CHECK(sizes(61, 4) == std::vector<std::int64_t>{15, 15, 16, 15});
  CHECK(sizes(62, 4) == std::vector<std::int64_t>{15, 16, 16, 15});
  CHECK(sizes(63, 4) == std::vector<std::int64_t>{16, 16, 16, 15});
}

TEST_CASE("the stages of a pipeline add up to the model") {
  const auto model = catalog().model("gemma-3-27b");
  double tokens = 0, sequence = 0;
  for (int s = 0; s < 3; ++s) {
    const auto fp = footprint(model, dtype("bf16"), {{1, 3}, s, {}});
    tokens += fp.bytes_per_token;
    sequence += fp.bytes_per_sequence;
  }
  CHECK(tokens == 81920);
  CHECK(sequence == 436207616);
}

TEST_CASE("a tensor parallel size that does not divide the heads is named with them") {
  const auto model = catalog().model("llama-3-70b");
  CHECK(kvformat::parallel_problem(model, {8}).empty());
  CHECK(kvformat::parallel_problem(model, {3}) ==
        "tensor parallel size 3 does not divide the 64 attention heads of llama-3-70b");
  CHECK_FALSE(kvformat::parallel_problem(model, {1, 81}).empty());
}
