#include <algorithm>

#include "planner/advice.h"
#include "planner/change.h"
#include "planner/room.h"

namespace kvsim::planner {
namespace {

using memory::Engine;
using Choice = std::vector<Setting>;  // settings that go together

constexpr double high_fraction = 0.95;
constexpr std::int64_t few_sequences = 16, few_tokens = 2048;

std::vector<Choice> kv_formats(const Request& r) {
  if (r.options.kv_dtype.bits_per_element() <= 8.5) return {};
  const bool llamacpp = r.options.rules.engine == Engine::llamacpp;
  return {{word("kv_cache_dtype", llamacpp ? "q8_0" : "fp8")}};
}

std::vector<Choice> weight_formats(const Request& r) {
  if (r.model.quantization.method != "none") return {};
  if (r.options.rules.engine == Engine::llamacpp) return {{word("quantization", "gguf")}};
  std::vector<Choice> list;
  if (r.gpu.fp8_tflops > 0) list.push_back({word("quantization", "fp8")});
  list.push_back({word("quantization", "awq")});
  return list;
}

std::vector<Choice> shares(const Request& r, const memory::Pool& pool) {
  const std::string flag = fraction_name(r.options.rules.engine);
  if (flag.empty() || !r.options.kv_cache_memory.empty() ||
      *pool.options.memory_fraction >= high_fraction)
    return {};
  return {{number(flag, high_fraction)}};
}

std::vector<Choice> batches(const memory::Pool& pool) {
  Choice small;
  if (pool.options.max_num_seqs > few_sequences)
    small.push_back(number("max_num_seqs", few_sequences));
  if (pool.options.max_num_batched_tokens > few_tokens)
    small.push_back(number("max_num_batched_tokens", few_tokens));
  return small.empty() ? std::vector<Choice>{} : std::vector<Choice>{small};
}

}  // namespace

std::vector<std::vector<Setting>> savings(const Request& r, const memory::Pool& pool) {
  std::vector<std::vector<Choice>> levers{kv_formats(r), weight_formats(r), shares(r, pool),
                                          batches(pool)};
  if (!r.options.enforce_eager && pool.ledger.cuda_graphs.value() > 0)
    levers.push_back({{word("enforce_eager", "true")}});
  if (r.options.images_per_prompt.value_or(1) > 0) {
    const auto blind = try_pool(changed(r, std::vector{number("images_per_prompt", 0)}));
    if (blind && blind->ledger.activation < pool.ledger.activation)
      levers.push_back({{number("images_per_prompt", 0)}});
  }
  std::vector<Choice> sets{{}};
  for (const auto& lever : levers) {
    const std::size_t before = sets.size();
    for (std::size_t i = 0; i < before; ++i)
      for (const Choice& choice : lever) {
        Choice with = sets[i];
        with.insert(with.end(), choice.begin(), choice.end());
        sets.push_back(std::move(with));
      }
  }
  std::ranges::stable_sort(sets, {}, &Choice::size);
  return sets;
}

}  // namespace kvsim::planner
