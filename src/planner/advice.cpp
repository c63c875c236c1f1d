#include "planner/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kvformat/footprint.h"
#include "planner/change.h"
#include "spec/weights.h"
#include "units/format.h"

namespace kvsim::planner {
namespace {

class Advisor {
 public:
  Advisor(const Request& request, const memory::Pool& pool) : request_(request), pool_(pool) {}

  std::vector<Advice> all() {
    if (!pool_.fits) length();
    kv_dtype();
    weights();
    tensor_parallel();
    fraction();
    if (pool_.fits) batch();
    return std::move(list_);
  }

 private:
  memory::Pool size(const Request& r) const { return memory::size_pool(r.model, r.gpu, r.options); }

  std::string gain(const memory::Pool& after) const {
    if (!after.fits)
      return after.ledger.shortfall.value() > 0
                 ? fmt::format("still {} short", format_bytes(after.ledger.shortfall))
                 : fmt::format("longest request {} tokens", format_integer(after.feasible_len));
    if (!pool_.fits || pool_.tokens == 0)
      return fmt::format("fits: {} KV tokens, {:.2f} requests of {}", format_integer(after.tokens),
                         after.max_concurrency, format_integer(after.options.max_model_len));
    return fmt::format("KV tokens {} to {} ({:.2f}x)", format_integer(pool_.tokens),
                       format_integer(after.tokens),
                       static_cast<double>(after.tokens) / static_cast<double>(pool_.tokens));
  }

  bool helps(const memory::Pool& after) const {
    if (!pool_.fits)
      return after.fits || after.ledger.shortfall < pool_.ledger.shortfall ||
             after.feasible_len > pool_.feasible_len;
    return after.fits && after.tokens > pool_.tokens;
  }

  void propose(std::vector<Setting> set, const Request& changed) {
    const memory::Pool after = size(changed);
    if (helps(after)) list_.push_back({std::move(set), after.fits, gain(after)});
  }

  void length() {
    if (pool_.feasible_len <= 0 || pool_.feasible_len >= pool_.options.max_model_len) return;
    Request r = request_;
    r.options.max_model_len = pool_.feasible_len;
    const memory::Pool after = size(r);
    list_.push_back({{number("max_model_len", static_cast<double>(pool_.feasible_len))},
                     after.fits,
                     gain(after)});
  }

  void kv_dtype() {
    if (pool_.options.kv_dtype.bits_per_element() <= 8 ||
        request_.options.rules.engine == memory::Engine::llamacpp)
      return;
    Request r = request_;
    r.options.kv_dtype = *kvformat::find_kv_dtype("fp8");
    propose({word("kv_cache_dtype", "fp8")}, r);
  }

  void weights() {
    if (request_.model.quantization.method != "none") return;
    for (const char* method : {"fp8", "awq"}) {
      if (std::string_view(method) == "fp8" && request_.gpu.fp8_tflops == 0) continue;
      Request r = request_;
      r.model.quantization = *spec::quantization_preset(method);
      propose({word("quantization", method)}, r);
    }
  }

  // The smallest size that fits; twice the present one where it fits already.
  void tensor_parallel() {
    for (int tp = request_.options.plan.tensor_parallel_size * 2; tp <= 64; tp *= 2) {
      Request r = request_;
      r.options.plan.tensor_parallel_size = tp;
      if (!kvformat::parallel_problem(r.model, r.options.plan).empty()) return;
      const memory::Pool after = size(r);
      if (!after.fits) continue;
      if (helps(after)) list_.push_back({{number("tensor_parallel_size", tp)}, true, gain(after)});
      return;
    }
  }

  void fraction() {
    using memory::Engine;
    if (!request_.options.kv_cache_memory.empty() || *pool_.options.memory_fraction >= 0.95) return;
    const Engine engine = request_.options.rules.engine;
    if (engine != Engine::vllm_v1 && engine != Engine::sglang) return;
    Request r = request_;
    r.options.memory_fraction = 0.95;
    propose({number(engine == Engine::vllm_v1 ? "gpu_memory_utilization" : "mem_fraction_static",
                    0.95)},
            r);
  }

  // Fewer sequences free the sampler's share of the activation peak.
  void batch() {
    const auto useful = static_cast<std::int64_t>(pool_.max_concurrency) + 1;
    if (useful * 4 > pool_.options.max_num_seqs || !request_.options.kv_cache_memory.empty())
      return;
    Request r = request_;
    r.options.max_num_seqs = std::max<std::int64_t>(useful, 8);
    propose({number("max_num_seqs", static_cast<double>(r.options.max_num_seqs))}, r);
  }

  const Request& request_;
  const memory::Pool& pool_;
  std::vector<Advice> list_;
};

}  // namespace

std::vector<Advice> make_advice(const Request& request, const memory::Pool& pool) {
  return Advisor(request, pool).all();
}

}  // namespace kvsim::planner
