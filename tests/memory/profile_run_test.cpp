#include <doctest/doctest.h>

#include "memory/estimates.h"
#include "memory/pool.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::memory;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}

Options options(const char* version) {
  Options o;
  o.rules = resolve_rules(Engine::vllm_v1, version);
  o.kv_dtype = *kvformat::find_kv_dtype("bfloat16");
  return o;
}

Options filled(const char* model, const char* gpu, Options o) {
  return with_defaults(o, catalog().model(model), catalog().gpu(gpu));
}

double gib_of(Bytes b) { return to_gib(b); }

}  // namespace

// vllm-10517: 2.07 GiB at 20,000 tokens and 2.99 at 29,000, the tensor allocator's peak.
TEST_CASE("without chunked prefill the profile run is as long as the longest prompt") {
  for (const auto& [length, peak] : {std::pair{20000, 2.07}, std::pair{29000, 2.99}}) {
    Options o = options("0.6.4");
    o.max_model_len = length;
    const Options f = filled("llama-3.1-8b", "rtx-3090", o);
    CHECK(f.max_num_batched_tokens == length);
    const Estimate e = profile_run(catalog().model("llama-3.1-8b"), f, 0).peak();
    CHECK(gib_of(e.bytes) == doctest::Approx(peak).epsilon(0.01));
    CHECK(e.uncertainty.value() > 0);
  }
}

TEST_CASE(
    "above 32768 tokens versions before V1 chunk prompts and the lengths that start are not an "
    "interval") {
  const auto starts = [&](std::int64_t length) {
    Options o = options("0.6.4");
    o.max_model_len = length;
    o.memory_fraction = 0.9;
    return size_pool(catalog().model("llama-3.1-8b"), catalog().gpu("rtx-3090"), o).fits;
  };
  CHECK(starts(20000));
  CHECK_FALSE(starts(29000));
  CHECK(starts(35000));
}

// file-25017508238, file-5773335890 and vllm-21489: 1.83, 0.94 and 9.96 GiB.
TEST_CASE("sampling sets the peak of large vocabularies") {
  struct Start {
    const char *model, *gpu, *version;
    double peak;
  };
  for (const Start& s : {Start{"phi-4-mini", "a100-sxm-40g", "0.7.3", 1.83},
                         Start{"phi-4", "a100-sxm-80g", "0.7.3", 0.94},
                         Start{"gemma-3-4b", "b200-sxm", "0.9.2", 9.96}}) {
    CAPTURE(s.model);
    Options o = options(s.version);
    if (s.version[2] == '7') o.max_model_len = 2048;
    const ProfileRun run = profile_run(catalog().model(s.model), filled(s.model, s.gpu, o), 0);
    CHECK(gib_of(run.peak().bytes) == doctest::Approx(s.peak).epsilon(0.025));
    CHECK(run.sampler > run.layers);
  }
}

TEST_CASE("only the last pipeline stage samples and only the first one sees images") {
  Options o = options("0.21");
  o.plan.pipeline_parallel_size = 2;
  const spec::ModelSpec& model = catalog().model("qwen3.5-27b");
  const Options f = filled("qwen3.5-27b", "h100-sxm", o);
  const ProfileRun first = profile_run(model, f, 0), last = profile_run(model, f, 1);
  CHECK(first.sampler == Bytes(0));
  CHECK(first.encoder.value() > 0);
  CHECK(last.sampler.value() > 0);
  CHECK(last.encoder == Bytes(0));
}

TEST_CASE("no images per prompt take the encoder out of the profile run") {
  Options o = options("0.21");
  o.images_per_prompt = 0;
  const ProfileRun run =
      profile_run(catalog().model("qwen3.5-27b"), filled("qwen3.5-27b", "rtx-3090", o), 0);
  CHECK(run.encoder == Bytes(0));
  CHECK(run.kept == Bytes(0));
}

TEST_CASE("early versions unpack a 4-bit matrix beside the layers") {
  spec::ModelSpec model = catalog().model("mistral-7b-v0.1");
  model.quantization.method = "awq", model.quantization.bits = 4;
  Options o = options("0.4.1");
  const Options f = with_defaults(o, model, catalog().gpu("rtx-a6000"));
  // gate and up of one layer in 16 bits
  CHECK(profile_run(model, f, 0).unpacked == Bytes(2 * 2 * 14336 * 4096));
  o.rules = resolve_rules(Engine::vllm_v1, "0.10");
  CHECK(profile_run(model, with_defaults(o, model, catalog().gpu("rtx-a6000")), 0).unpacked ==
        Bytes(0));
}

TEST_CASE("a stated term replaces its estimate and carries no uncertainty") {
  Options o = options("0.21");
  o.stated.weights = Bytes(10 * gib);
  o.stated.activation = Bytes(2 * gib);
  o.stated.non_torch = Bytes(gib);
  o.stated.cuda_graphs = Bytes(gib / 2);
  const Pool pool = size_pool(catalog().model("llama-3.1-8b"), catalog().gpu("h100-sxm"), o);
  CHECK(pool.ledger.weights == Bytes(10 * gib));
  CHECK(pool.ledger.activation == Bytes(2 * gib));
  CHECK(pool.ledger.kv_uncertainty() == Bytes(0));
  CHECK(pool.ledger.kv ==
        pool.ledger.budget - Bytes(10 * gib) - Bytes(2 * gib) - Bytes(gib) - Bytes(gib / 2));
}
