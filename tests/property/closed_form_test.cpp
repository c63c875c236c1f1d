#include <doctest/doctest.h>

#include <algorithm>

#include "calibrate/predict/work.h"
#include "cost/cost_model.h"
#include "cost/step_fill.h"
#include "kvformat/footprint.h"
#include "kvformat/kv_dtype.h"
#include "property/pinned.h"
#include "spec/catalog.h"
#include "spec/weights.h"

using namespace kvsim;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog c;
  return c;
}

// A model and a tensor parallel size that divides its heads.
struct Deployment {
  spec::ModelSpec model;
  spec::GpuSpec gpu;
  spec::ParallelPlan plan;
  const kvformat::KvDtype* kv = nullptr;
};

Deployment any_deployment() {
  Deployment d;
  d.model = catalog().model(*rc::gen::elementOf(catalog().model_ids()));
  d.gpu = catalog().gpu(*rc::gen::element<std::string>("h100-sxm", "h200-sxm", "b200-sxm",
                                                       "a100-sxm-80g", "l40s", "mi300x"));
  d.plan.tensor_parallel_size = *rc::gen::element(1, 2, 4, 8);
  const auto splits = [&](const spec::LayerGroup& g) {
    const std::int64_t tp = d.plan.tensor_parallel_size;
    const bool kv_splits =
        g.num_kv_heads % tp == 0 || (g.num_kv_heads > 0 && tp % g.num_kv_heads == 0);
    return g.num_heads % tp == 0 && kv_splits;
  };
  while (!std::ranges::all_of(d.model.layer_groups, splits)) d.plan.tensor_parallel_size /= 2;
  d.kv = kvformat::find_kv_dtype(*rc::gen::element<std::string>("bfloat16", "fp8_e4m3"));
  return d;
}

std::unique_ptr<cost::CostModel> roofline(const Deployment& d) {
  cost::RooflineOptions options;
  options.plan = d.plan, options.kv_dtype = *d.kv;
  return cost::make_roofline(d.model, d.gpu, options);
}

}  // namespace

TEST_CASE("INV-7 a decode step never gets shorter with a longer context or a larger batch") {
  KVSIM_PROPERTY("decode", [] {
    const Deployment d = any_deployment();
    const auto cost = roofline(d);
    const std::int64_t context = *rc::gen::inRange(1, 200'000), batch = *rc::gen::inRange(1, 512);
    const std::int64_t others = *rc::gen::inRange(0, 64);
    std::int64_t more = *rc::gen::inRange(0, 50'000);
    const auto t = [&](std::int64_t c, std::int64_t b) {
      return cost->step_seconds(cost::decode_shape(d.model, c, b));
    };
    const double base = t(context, batch);
    RC_ASSERT(base > 0);
    // Chunked local layers see only the current chunk: a token more may start a new, empty one.
    // Whole chunks more never shorten a step.
    for (const spec::LayerGroup& g : d.model.layer_groups)
      if (g.attention == spec::AttentionKind::chunked_local) more -= more % g.window;
    RC_ASSERT(t(context + more, batch) >= base * (1 - 1e-12));
    RC_ASSERT(t(context, batch + others) >= base * (1 - 1e-12));
  });
}

TEST_CASE("INV-8 a prefill step never gets shorter with a longer prompt") {
  KVSIM_PROPERTY("prefill", [] {
    const Deployment d = any_deployment();
    const auto cost = roofline(d);
    const std::int64_t tokens = *rc::gen::inRange(2, 100'000), more = *rc::gen::inRange(0, 10'000);
    const double shorter = cost->step_seconds(cost::prefill_shape(d.model, tokens));
    RC_ASSERT(cost->step_seconds(cost::prefill_shape(d.model, tokens + more)) >=
              shorter * (1 - 1e-12));
  });
}

TEST_CASE("INV-9 the bill of a step adds up to its time") {
  KVSIM_PROPERTY("bill", [] {
    const Deployment d = any_deployment();
    const auto cost = roofline(d);
    const auto shape =
        *rc::gen::arbitrary<bool>()
            ? cost::decode_shape(d.model, *rc::gen::inRange(1, 50'000), *rc::gen::inRange(1, 256))
            : cost::prefill_shape(d.model, *rc::gen::inRange(2, 30'000));
    const cost::StepBill bill = cost->bill(shape);
    double sum = 0;
    for (const auto& line : bill.operators) {
      RC_ASSERT(line.seconds >= 0);
      sum += line.seconds;
    }
    RC_ASSERT(bill.seconds == cost->step_seconds(shape));
    RC_ASSERT(std::abs(sum - bill.seconds) <= 1e-9 * bill.seconds);
    // No step moves its bytes faster than the memory can.
    RC_ASSERT(bill.seconds >= bill.bytes / d.gpu.memory_bandwidth.value());
  });
}

TEST_CASE(
    "INV-10 KV bytes never shrink with more tokens and never grow with a narrower format or more "
    "ranks") {
  KVSIM_PROPERTY("footprint", [] {
    const Deployment d = any_deployment();
    kvformat::FootprintOptions options;
    options.plan = d.plan;
    const auto wide = kvformat::footprint(d.model, *kvformat::find_kv_dtype("bfloat16"), options);
    const auto narrow = kvformat::footprint(d.model, *kvformat::find_kv_dtype("fp8_e4m3"), options);
    const std::int64_t tokens = *rc::gen::inRange(0, 1'000'000),
                       more = *rc::gen::inRange(0, 100'000);
    RC_ASSERT(wide.sequence_bytes(Tokens(tokens + more)) >= wide.sequence_bytes(Tokens(tokens)));
    RC_ASSERT(narrow.sequence_bytes(Tokens(tokens)) <= wide.sequence_bytes(Tokens(tokens)));
    options.plan.tensor_parallel_size = 1;
    const auto single = kvformat::footprint(d.model, *kvformat::find_kv_dtype("bfloat16"), options);
    RC_ASSERT(wide.sequence_bytes(Tokens(tokens)) <= single.sequence_bytes(Tokens(tokens)));
  });
}

TEST_CASE("INV-11 the weights of all ranks together are at least the weights of the model") {
  KVSIM_PROPERTY("weights", [] {
    const Deployment d = any_deployment();
    const double one = spec::weight_bytes(d.model, {}, 0, d.model.num_layers).total();
    const double share = spec::weight_bytes(d.model, d.plan, 0, d.model.num_layers).total();
    RC_ASSERT(share <= one * (1 + 1e-12));
    RC_ASSERT(share * d.plan.tensor_parallel_size >= one * (1 - 1e-12));
    // Pipeline stages hold every layer once.
    const std::int64_t cut = *rc::gen::inRange<std::int64_t>(0, d.model.num_layers + 1);
    const double stages = spec::weight_bytes(d.model, d.plan, 0, cut).total() +
                          spec::weight_bytes(d.model, d.plan, cut, d.model.num_layers).total();
    RC_ASSERT(stages >= share * (1 - 1e-12));
  });
}

TEST_CASE("INV-12 measured kernels are predicted to take longer the more they do") {
  KVSIM_PROPERTY("decode attention", [] {
    const auto gpu =
        catalog().gpu(*rc::gen::element<std::string>("h100-sxm", "a100-sxm-80g", "l40s"));
    calibrate::Measurement m;
    m.dtype = "bf16", m.kv_dtype = *rc::gen::element<std::string>("bf16", "fp8");
    const calibrate::DecodeAttention s{*rc::gen::inRange(1, 512),
                                       *rc::gen::inRange(2, 100'000),
                                       32,
                                       *rc::gen::element(1, 4, 8, 32),
                                       128,
                                       *rc::gen::element(0, 128, 4096)};
    calibrate::DecodeAttention longer = s, wider = s;
    longer.kv_len += *rc::gen::inRange(0, 10'000), wider.batch += *rc::gen::inRange(0, 64);
    const auto t = [&](const calibrate::DecodeAttention& shape) {
      return calibrate::seconds(calibrate::plan(shape, m).work.at(0), gpu);
    };
    RC_ASSERT(t(longer) >= t(s));
    RC_ASSERT(t(wider) >= t(s));
  });
  KVSIM_PROPERTY("products", [] {
    const auto gpu = catalog().gpu("h100-sxm");
    calibrate::Measurement m;
    m.dtype = *rc::gen::element<std::string>("bf16", "fp8", "fp8_block", "nvfp4");
    const auto t = [&](std::int64_t rows, std::int64_t n, std::int64_t k) {
      return calibrate::seconds(calibrate::plan(calibrate::Gemm{rows, n, k}, m).work.at(0), gpu);
    };
    const std::int64_t rows = *rc::gen::inRange(1, 20'000), n = *rc::gen::inRange(1, 30'000),
                       k = *rc::gen::inRange(1, 30'000);
    RC_ASSERT(t(rows + *rc::gen::inRange(0, 999), n, k) >= t(rows, n, k));
    RC_ASSERT(t(rows, n + *rc::gen::inRange(0, 999), k) >= t(rows, n, k));
    RC_ASSERT(t(rows, n, k + *rc::gen::inRange(0, 999)) >= t(rows, n, k));
  });
}
