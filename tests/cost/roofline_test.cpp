#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cost/cost_model.h"
#include "cost/roofline_constants.h"
#include "cost/step_fill.h"
#include "kvformat/footprint.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}
RooflineOptions options(int tp = 1, const char* kv = "bf16") {
  RooflineOptions o;
  o.plan.tensor_parallel_size = tp;
  o.kv_dtype = *kvformat::find_kv_dtype(kv);
  return o;
}
StepShape mixed(const spec::ModelSpec& model) {
  StepShape shape;
  const StepFill fill(model);
  for (int i = 0; i < 12; ++i) fill.add_decode(shape, 1000 + 700 * i);
  fill.add_chunk(shape, 512, 640, 0);
  fill.add_chunk(shape, 0, 300, 1);
  return shape;
}

}  // namespace

TEST_CASE("the bill of every model adds up to its step time") {
  for (const std::string& id : catalog().model_ids()) {
    const auto model = catalog().model(id);
    const auto gpu = catalog().gpu("h100-sxm");
    CAPTURE(id);
    for (int tp : {1, 4}) {
      if (!kvformat::parallel_problem(model, {tp}).empty()) continue;
      const auto cost = make_roofline(model, gpu, options(tp));
      for (const StepShape& shape :
           {mixed(model), decode_shape(model, 4096, 32), prefill_shape(model, 2000)}) {
        const StepBill bill = cost->bill(shape);
        CHECK(bill.seconds == cost->step_seconds(shape));
        double sum = 0;
        for (const OperatorTime& line : bill.operators) {
          CHECK(std::isfinite(line.seconds));
          CHECK(line.seconds > 0);
          sum += line.seconds;
        }
        CHECK(sum == doctest::Approx(bill.seconds));
      }
    }
  }
}

TEST_CASE("a decode step of Llama-3-8B is what the closed form says") {
  const auto model = catalog().model("llama-3.1-8b");
  const auto gpu = catalog().gpu("h100-sxm");
  const auto cost = make_roofline(model, gpu, options());
  const std::int64_t batch = 16, context = 2000;
  // Bytes of one step: every weight matrix once, activations of 16 rows, KV of 2,001 tokens each.
  const double h = 4096, inter = 14336, qkv = 4096 + 2 * 1024, vocab = 128256;
  const double b = static_cast<double>(batch);
  const double matrices = h * qkv + h * h + 2 * h * inter + inter * h;
  const double rows = (h + qkv) + (h + h) + (h + 2 * inter) + (inter + h);
  const double kv = 4096.0 * b * (static_cast<double>(context) + 1) + b * 4096.0;
  const double elementwise = 2 * (4 * h * 2) + 2 * h * 2 + 3 * inter * 2;
  double bytes = 32 * (2 * matrices + 2 * rows * b + kv + elementwise * b);
  bytes += 2 * 2 * h * 2 * b;                                        // embedding lookup, final norm
  bytes += 2 * h * vocab + 2 * (h + vocab) * b + 3 * 4 * vocab * b;  // head and sampling
  // Kernels: four GEMMs, attention, two norms, rope and activation a layer; two ends; head and
  // sampling.
  const double kernels = 32 * 9 + 2 + 1 + 3;
  const double expected =
      bytes / (3.35e12 * roofline::bandwidth_share) + kernels * roofline::kernel_floor_s;
  CHECK(cost->step_seconds(decode_shape(model, context, batch)) ==
        doctest::Approx(expected).epsilon(1e-9));
}

TEST_CASE("no hardware rate makes a step slower when it grows") {
  const auto model = catalog().model("qwen3-235b-a22b");
  const auto base = catalog().gpu("h100-sxm");
  const StepShape shape = mixed(model);
  const double before = make_roofline(model, base, options(4))->step_seconds(shape);
  auto with = [&](auto change) {
    spec::GpuSpec gpu = base;
    change(gpu);
    return make_roofline(model, gpu, options(4))->step_seconds(shape);
  };
  CHECK(with([](auto& g) { g.memory_bandwidth = g.memory_bandwidth * 2; }) < before);
  CHECK(with([](auto& g) { g.bf16_tflops *= 2; }) <= before);
  CHECK(with([](auto& g) { g.fp8_tflops *= 2; }) <= before);
  CHECK(with([](auto& g) { g.link_bandwidth = g.link_bandwidth * 2; }) < before);
}

TEST_CASE("more context and more requests never make a step faster") {
  for (const char* id : {"llama-3.1-70b", "gemma-3-27b", "deepseek-v3.2", "qwen3-next-80b-a3b",
                         "llama-4-scout-17b-16e"}) {
    const auto model = catalog().model(id);
    const auto cost = make_roofline(model, catalog().gpu("h200-sxm"), options(8));
    CAPTURE(id);
    if (!kvformat::parallel_problem(model, {8}).empty()) continue;
    double last = 0;
    for (std::int64_t context : {1, 100, 1000, 8192, 50000}) {
      const double t = cost->step_seconds(decode_shape(model, context, 8));
      // A chunk starts over, so its reads may shrink; everything else only grows.
      if (model.id.rfind("llama-4", 0) != 0) CHECK(t >= last);
      last = t;
    }
    last = 0;
    for (std::int64_t batch : {1, 2, 8, 64, 512}) {
      const double t = cost->step_seconds(decode_shape(model, 1000, batch));
      CHECK(t >= last);
      last = t;
    }
  }
}

TEST_CASE("decode attention of GQA reads eight flops a byte per group of eight heads") {
  const auto model = catalog().model("llama-3.1-70b");
  const auto cost = make_roofline(model, catalog().gpu("h100-sxm"), options());
  const StepBill bill = cost->bill(decode_shape(model, 100000, 64));
  CHECK(bill.ridge == doctest::Approx(989.4 / 3.35));
  CHECK(bill.binds == Binds::memory_bandwidth);
  const auto attention =
      std::find_if(bill.operators.begin(), bill.operators.end(),
                   [](const OperatorTime& o) { return o.name.rfind("attention", 0) == 0; });
  REQUIRE(attention != bill.operators.end());
  CHECK(attention->flops / attention->bytes == doctest::Approx(8).epsilon(1e-4));
}

TEST_CASE("absorbed MLA decode is near the ridge") {
  const auto model = catalog().model("deepseek-v3");
  const auto cost = make_roofline(model, catalog().gpu("h100-sxm"), options());
  for (const OperatorTime& line : cost->bill(decode_shape(model, 100000, 4)).operators)
    if (line.name.rfind("attention", 0) == 0)
      CHECK(line.flops / line.bytes == doctest::Approx(278528.0 / 1152).epsilon(1e-3));
}

TEST_CASE("one token touches its own experts and many touch all") {
  const auto model = catalog().model("mixtral-8x7b");
  const auto cost = make_roofline(model, catalog().gpu("h200-sxm"), options());
  const auto bytes = [&](std::int64_t batch) {
    for (const OperatorTime& line : cost->bill(decode_shape(model, 10, batch)).operators)
      if (line.name == "experts") return line.bytes;
    return 0.0;
  };
  const double expert = 3.0 * 4096 * 14336 * 2 * 32;
  CHECK(bytes(1) == doctest::Approx(2 * expert).epsilon(0.001));
  CHECK(bytes(256) == doctest::Approx(8 * expert).epsilon(0.03));
}

TEST_CASE("steps are padded to captured graph sizes") {
  CHECK(cuda_graph_size(1, 512) == 1);
  CHECK(cuda_graph_size(3, 512) == 4);
  CHECK(cuda_graph_size(9, 512) == 16);
  CHECK(cuda_graph_size(249, 512) == 256);
  CHECK(cuda_graph_size(257, 512) == 272);
  CHECK(cuda_graph_size(513, 512) == 513);
  CHECK(cuda_graph_size(7, 0) == 7);
  CHECK(cuda_graph_count(512) == 51);
  CHECK(cuda_graph_count(1024) == 83);
  const auto model = catalog().model("llama-3.1-8b");
  RooflineOptions padded = options();
  padded.cuda_graph_tokens = 512;
  const auto plain = make_roofline(model, catalog().gpu("h100-sxm"), options());
  const auto graphs = make_roofline(model, catalog().gpu("h100-sxm"), padded);
  CHECK(graphs->step_seconds(decode_shape(model, 100, 9)) >
        plain->step_seconds(decode_shape(model, 100, 9)));
  CHECK(graphs->step_seconds(decode_shape(model, 100, 16)) ==
        plain->step_seconds(decode_shape(model, 100, 16)));
}

TEST_CASE("a constant cost gives every step its duration") {
  const auto cost = make_constant(Duration(250'000'000));
  CHECK(cost->step_seconds({}) == 0.25);
  CHECK(cost->bill({}).seconds == 0.25);
}
