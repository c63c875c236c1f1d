#include "planner/smallest.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "planner/change.h"
#include "spec/weights.h"

namespace kvsim::planner {
namespace {

constexpr int most_gpus = 64;

// The first of the candidates with which the deployment fits.
Smallest first_that_fits(const Request& r, std::string name, std::string asked,
                         const std::vector<Setting>& candidates, std::string tried) {
  Smallest s{std::move(name), std::move(asked), {}, false, 0, 0, std::move(tried)};
  for (const Setting& candidate : candidates) {
    const auto pool = try_pool(changed(r, std::span(&candidate, 1)));
    if (!pool || !pool->fits) continue;
    s.found = candidate;
    s.same =
        s.asked == (candidate.word.empty() ? fmt::format("{}", candidate.number) : candidate.word);
    s.tokens = pool->tokens;
    s.max_concurrency = pool->max_concurrency;
    break;
  }
  return s;
}

// GPUs below which even an equal share of the weights exceeds the memory of one.
int least(const Request& r, const char* name) {
  const auto alone = try_pool(changed(r, std::vector{number(name, 1)}));
  if (!alone) return 1;
  const Bytes room = alone->ledger.total + r.options.cpu_offload;
  const Bytes weights = alone->ledger.weights + r.options.cpu_offload;
  return static_cast<int>(std::clamp<std::int64_t>(weights.value() / room.value(), 1, most_gpus));
}

Smallest size(const Request& r, const char* name, int asked, int most) {
  std::vector<Setting> sizes;
  for (int n = least(r, name); n <= most; ++n) sizes.push_back(number(name, n));
  return first_that_fits(r, name, fmt::format("{}", asked), sizes, fmt::format("1 to {}", most));
}

Smallest format(const Request& r, const char* name, const std::string& asked,
                const std::vector<std::string>& formats) {
  std::vector<Setting> words;
  for (const std::string& f : formats) words.push_back(word(name, f));
  return first_that_fits(r, name, asked, words, fmt::format("{}", fmt::join(formats, ", ")));
}

}  // namespace

std::vector<std::string> engine_kv_formats(const Request& r) {
  const std::string own(spec::name(r.model.dtype));
  if (r.options.rules.engine == memory::Engine::llamacpp)
    return {"float16", "q8_0", "q5_1", "q5_0", "q4_0"};
  return {kvformat::find_kv_dtype(own) ? own : "bfloat16", "fp8_e4m3", "nvfp4"};
}

std::vector<std::string> engine_weight_formats(const Request& r) {
  if (r.options.rules.engine == memory::Engine::llamacpp) return {"none", "gguf"};
  if (r.gpu.fp8_tflops > 0) return {"none", "fp8", "int8", "awq"};
  return {"none", "int8", "awq"};
}

std::vector<Smallest> smallest_that_fit(const Request& r) {
  const spec::ParallelPlan& plan = r.options.plan;
  return {size(r, "tensor_parallel_size", plan.tensor_parallel_size, most_gpus),
          size(r, "pipeline_parallel_size", plan.pipeline_parallel_size,
               static_cast<int>(std::min<std::int64_t>(most_gpus, r.model.num_layers))),
          format(r, "kv_cache_dtype", std::string(r.options.kv_dtype.name), engine_kv_formats(r)),
          format(r, "quantization", r.model.quantization.method, engine_weight_formats(r))};
}

}  // namespace kvsim::planner
