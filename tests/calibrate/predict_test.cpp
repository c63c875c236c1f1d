#include <doctest/doctest.h>

#include <algorithm>

#include "calibrate/predict/floors.h"
#include "calibrate/predict/predictor.h"
#include "calibrate/predict/work.h"
#include "calibrate/serving/serving_predictions.h"
#include "calibrate/validation.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

spec::GpuSpec toy() {
  spec::GpuSpec g;
  g.id = "toy", g.memory_bandwidth = Bandwidth(1e12), g.bf16_tflops = 100, g.fp8_tflops = 200,
  g.fp4_tflops = 400, g.l2_mb = 40, g.sm_count = 50;
  g.link_bandwidth = Bandwidth(100e9), g.nic_bandwidth = Bandwidth(10e9),
  g.pcie_bandwidth = Bandwidth(20e9);
  return g;
}
Measurement labelled(const char* dtype, const char* kv_dtype = "") {
  Measurement m;
  m.gpu = "toy", m.dtype = dtype, m.kv_dtype = kv_dtype;
  return m;
}
Work only(const WorkPlan& plan) {
  REQUIRE(plan.unrepresentable.empty());
  REQUIRE(plan.work.size() == 1);
  return plan.work[0];
}

}  // namespace

TEST_CASE("causal pairs equal a count of every visible pair") {
  for (int q = 1; q <= 9; ++q)
    for (int kv = q; kv <= 12; ++kv)
      for (int window = 0; window <= 13; ++window) {
        int count = 0;
        for (int i = 0; i < q; ++i)
          for (int k = 0; k < kv; ++k)
            count += k <= kv - q + i && (window == 0 || k > kv - q + i - window);
        CAPTURE(q);
        CAPTURE(kv);
        CAPTURE(window);
        CHECK(causal_pairs(q, kv, window) == count);
      }
}

TEST_CASE("decode attention moves the attended KV and the queries") {
  const Work w = only(plan(DecodeAttention{8, 4096, 32, 8, 128, 0}, labelled("bf16", "bf16")));
  CHECK(w.replayed == 2.0 * 8 * 8 * 4096 * 128 * 2);
  CHECK(w.bytes == w.replayed + 4.0 * 8 * 32 * 128);
  CHECK(w.flops == 4.0 * 8 * 32 * 4096 * 128);
  const Work narrow = only(plan(DecodeAttention{8, 4096, 32, 8, 128, 0}, labelled("bf16", "fp8")));
  CHECK(narrow.replayed == w.replayed / 2);
  const Work windowed =
      only(plan(DecodeAttention{8, 4096, 32, 8, 128, 1024}, labelled("bf16", "bf16")));
  CHECK(windowed.replayed == w.replayed / 4);
}

TEST_CASE("products and experts move their weights once") {
  const Work gemm = only(plan(Gemm{1, 4096, 8192}, labelled("bf16")));
  CHECK(gemm.bytes == 2.0 * 4096 * 8192 + 2 * 8192 + 2 * 4096);
  CHECK(gemm.flops == 2.0 * 4096 * 8192);
  CHECK(only(plan(Gemm{1, 4096, 8192}, labelled("nvfp4"))).replayed == 0.5625 * 4096 * 8192);
  // One token touches its topk experts of 128 and no more.
  const Work one =
      only(plan(ExpertMlp{1, 2048, 768, 8, 128, 1, 1, "balanced"}, labelled("bfloat16")));
  CHECK(one.replayed == doctest::Approx(8.0 * 3 * 2048 * 768 * 2));
  // Very many tokens touch all local ones.
  const Work many =
      only(plan(ExpertMlp{100000, 2048, 768, 8, 128, 1, 4, "balanced"}, labelled("bfloat16")));
  CHECK(many.replayed == doctest::Approx(32.0 * 3 * 2048 * 768 * 2));
}

TEST_CASE("a type or operation without a formula is named") {
  CHECK(plan(Gemm{1, 1, 1}, labelled("fp3")).unrepresentable == "dtype \"fp3\" is not known");
  CHECK(plan(MemoryOp{"spin", 1, 1}, labelled("fp8")).unrepresentable ==
        "operation \"spin\" has no formula");
  CHECK(!plan(Collective{"scan", "nccl_tests", 2, 8}, labelled("fp16"), toy())
             .unrepresentable.empty());
  CHECK(!plan(PrefillAttention{1, 8, 4, 1, 1, 128, 0}, labelled("bf16", "bf16"))
             .unrepresentable.empty());
}

TEST_CASE("a launch takes its floor and the slower of memory and compute") {
  Work w;
  w.floor = 5e-6, w.bytes = 0.8e9;
  CHECK(seconds(w, toy()) == doctest::Approx(5e-6 + 1e-3));
  w.flops = 1e12;
  CHECK(seconds(w, toy()) == doctest::Approx(5e-6 + 1e-2));
  w.operands = spec::DType::fp8;
  CHECK(seconds(w, toy()) == doctest::Approx(5e-6 + 5e-3));
}

TEST_CASE("a replayed buffer is warm while it fits the cache and cold when it is far larger") {
  const auto t = [](double bytes, double resident) {
    Work w;
    w.bytes = w.replayed = bytes, w.resident = resident;
    return seconds(w, toy());
  };
  CHECK(t(1e6, 1e6) == doctest::Approx(1e6 / (50 * l2_rate_per_sm)).epsilon(0.01));
  CHECK(t(1e9, 1e9) == doctest::Approx(t(1e9, 0)).epsilon(0.01));
  double last = 0;
  for (double bytes = 1e6; bytes < 1e9; bytes *= 1.3) {  // more bytes never take less time
    CHECK(t(bytes, bytes) > last);
    last = t(bytes, bytes);
  }
}

TEST_CASE("collectives use the link that the ranks share") {
  const auto t = [](const char* op, const char* impl, std::int64_t n, const char* gpu = "toy") {
    Measurement m = labelled("fp16");
    m.gpu = gpu;
    return seconds(only(plan(Collective{op, impl, n, 1'000'000'000}, m, toy())), toy());
  };
  CHECK(t("all_reduce", "vllm_graph", 2) == doctest::Approx(0.01).epsilon(0.01));
  CHECK(t("all_reduce", "nccl_tests", 8) == doctest::Approx(0.0175).epsilon(0.01));
  CHECK(t("all_gather", "nccl_tests", 4) == doctest::Approx(0.0075).epsilon(0.01));
  CHECK(t("send_recv", "torch_nccl_devpernode1", 2) == doctest::Approx(0.1).epsilon(0.01));
  CHECK(t("send_recv", "torch_nccl_devpernode2", 2) == doctest::Approx(0.01).epsilon(0.01));
  CHECK(t("all_reduce", "torch_nccl_devpernode4", 4, "a100_pairwise") ==
        doctest::Approx(0.075).epsilon(0.01));
}

TEST_CASE("errors are summarised exactly") {
  const ErrorSummary e = summarise({0.1, -0.3, 0.2, -0.4});
  CHECK(e.n == 4);
  CHECK(e.mape == doctest::Approx(0.25));
  CHECK(e.median_ape == doctest::Approx(0.25));
  CHECK(e.p90_ape == doctest::Approx(0.37));
  CHECK(e.bias == doctest::Approx(-0.1));
  CHECK(summarise({}).n == 0);
  CHECK(summarise({-0.5}).p90_ape == 0.5);
}

TEST_CASE("serving estimates obey their own bookkeeping") {
  const spec::Catalog catalog;
  const auto gpu = catalog.gpu("h100-sxm");
  const auto predicted = [&](const Serving& run, ServingPredictions::Options options) {
    ServingPredictions predictions(catalog, options);
    Measurement m;
    m.gpu = gpu.id, m.framework = "vllm", m.shape = run;
    const auto added = predictions.add(m, gpu);
    REQUIRE_MESSAGE(added.unrepresentable.empty(), added.unrepresentable);
    predictions.predict();
    struct {
      double ttft, tpot, rate;
    } out{predictions.value(added.run, "e2e_ttft"), predictions.value(added.run, "e2e_tpot"),
          predictions.value(added.run, "e2e_throughput")};
    return out;
  };
  for (const bool datasheet : {false, true}) {
    const ServingPredictions::Options options{HostConstants::none, datasheet};
    Serving run;
    run.model = "llama-3.1-8b", run.precision = "bf16", run.prompt = 1000, run.output = 500,
    run.concurrency = 1, run.gpus = 1;
    // A lone request: weights of 16 GB once per token at 3.35 TB/s, no other prefills.
    const auto one = predicted(run, options);
    CHECK(one.tpot > 16e9 / 3.35e12);
    CHECK(one.tpot < 3 * 16e9 / 3.35e12);
    CHECK(one.ttft > 0);
    double rate = 0, last = 0;
    for (const std::int64_t c : {1, 4, 16, 64}) {
      run.concurrency = c;
      const auto e = predicted(run, options);
      CHECK(e.tpot >= last);
      CHECK(e.rate > rate);
      last = e.tpot, rate = e.rate;
    }
    // More than the KV pool holds: those that wait are in the first token's time.
    run.concurrency = 4096;
    CHECK(predicted(run, options).ttft > 1);
  }
}

TEST_CASE("a serving run that no model stands for says why") {
  const spec::Catalog catalog;
  const auto gpu = catalog.gpu("h100-sxm");
  ServingPredictions predictions(catalog, {HostConstants::none, false});
  const auto why = [&](const char* model) {
    Measurement m;
    Serving run;
    run.model = model, run.precision = "bf16", run.prompt = 1000, run.output = 500,
    run.concurrency = 1, run.gpus = 1;
    m.gpu = gpu.id, m.framework = "vllm", m.shape = run;
    return predictions.add(m, gpu).unrepresentable;
  };
  CHECK(why("no-such-model") == "model \"no-such-model\" is not in the catalog");
  CHECK(why("llama-3.1-405b") == "the weights do not fit by our count");
}
