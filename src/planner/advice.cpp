#include "planner/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "planner/change.h"
#include "planner/feasible.h"
#include "planner/room.h"
#include "units/format.h"

namespace kvsim::planner {
namespace {

constexpr int most_gpus = 64;
// Given pools are advised in mebibytes.
constexpr double pool_step = 1 << 20;
constexpr std::int64_t most_steps = std::int64_t{1} << 30;
// Shorter requests than this are no service.
constexpr std::int64_t shortest_useful = 512;
// Fewer sequences free little; less than this is no advice.
constexpr double least_gain_of_batch = 1.03;

// The smallest given pool, in steps that can be typed, that holds one request of max_model_len.
// It does not depend on what else is on the GPU.
std::optional<Setting> enough_pool(const Request& r) {
  const auto at = [](std::int64_t steps) {
    return number("kv_cache_memory_bytes", pool_step * static_cast<double>(steps));
  };
  const auto holds = [&](std::int64_t steps) {
    const auto pool = try_pool(changed(r, std::vector{at(steps)}));
    return pool && pool->feasible_len >= pool->options.max_model_len;
  };
  std::int64_t low = 0, high = 1;
  while (!holds(high)) {
    if (high > most_steps) return std::nullopt;
    low = high, high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  // Tenths of a GiB print as they are.
  const double tenths = std::ceil(static_cast<double>(high) / 102.4);
  return tenths >= 10 ? number("kv_cache_memory_bytes", std::ceil(tenths / 10 * gib)) : at(high);
}

bool pool_too_small(const Request& r, const memory::Pool& pool) {
  return !r.options.kv_cache_memory.empty() && pool.feasible_len < pool.options.max_model_len;
}

class Advisor {
 public:
  Advisor(const Request& request, const memory::Pool& pool) : request_(request), pool_(pool) {}

  std::vector<Advice> to_hold_more() {
    for (const auto& set : singles()) keep_better(set);
    more_gpus();
    batch();
    return std::move(list_);
  }

  std::vector<Advice> to_fit() {
    if (pool_.fraction_that_starts) lower_fraction(*pool_.fraction_that_starts);
    if (pool_too_small(request_, pool_)) return to_fit_small_pool();
    if (!request_.options.kv_cache_memory.empty()) smaller_pool();
    length(shortest_useful);
    for (const auto& set : singles()) keep_better(set);
    if (!any_fits()) {
      combination();
      shorter_combination(shortest_useful);
    }
    more_gpus();
    more_stages();
    offload();
    if (!any_fits()) combination_on_more_gpus();
    if (!any_fits()) shorter_combination(1);
    std::ranges::stable_sort(list_, std::greater{}, &Advice::fits);
    return std::move(list_);
  }

 private:
  bool any_fits() const { return std::ranges::any_of(list_, &Advice::fits); }

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

  void keep(std::vector<Setting> set, const memory::Pool& after) {
    list_.push_back({std::move(set), after.fits, gain(after)});
  }
  void keep_better(const std::vector<Setting>& set) {
    const auto after = try_pool(changed(request_, set));
    if (after && helps(*after)) keep(set, *after);
  }
  bool keep_if_fits(const std::vector<Setting>& set) {
    const auto after = try_pool(changed(request_, set));
    if (!after || !after->fits || !helps(*after)) return false;
    keep(set, *after);
    return true;
  }

  // The savings of one kind alone; graphs and batch, which save little, only to fit.
  std::vector<std::vector<Setting>> singles() const {
    std::vector<std::vector<Setting>> list;
    for (auto& set : savings(request_, pool_)) {
      if (set.empty()) continue;
      const bool batch =
          std::ranges::all_of(set, [](const Setting& s) { return s.name.starts_with("max_num_"); });
      const bool minor = batch || set.front().name == "enforce_eager";
      if ((set.size() > 1 && !batch)) continue;
      if (!minor || (!pool_.fits && fits_with(set))) list.push_back(std::move(set));
    }
    return list;
  }
  bool fits_with(const std::vector<Setting>& set) const {
    const auto after = try_pool(changed(request_, set));
    return after && after->fits;
  }

  void length(std::int64_t least) {
    const std::int64_t longest = largest_up_to(feasible_lengths(request_), most_length());
    if (longest >= least) keep_if_fits({number("max_model_len", static_cast<double>(longest))});
  }
  std::int64_t most_length() const { return pool_.options.max_model_len - 1; }

  // The GPU is shared: less of it, and shorter requests where that is too little.
  void lower_fraction(double fraction) {
    const std::vector<Setting> set{number("gpu_memory_utilization", fraction)};
    if (keep_if_fits(set)) return;
    const auto after = try_pool(changed(request_, set));
    if (after && after->feasible_len >= shortest_useful)
      keep_if_fits(
          {set.front(), number("max_model_len", static_cast<double>(after->feasible_len))});
  }

  // No other GPU makes a given pool larger: one that holds a request comes first, and where it does
  // not fit beside the rest, what makes it fit.
  std::vector<Advice> to_fit_small_pool() {
    const auto enough = enough_pool(request_);
    if (enough) keep_if_fits({*enough});
    length(shortest_useful);
    for (const auto& set : singles()) keep_better(set);
    if (enough && !any_fits()) {
      const Request with = changed(request_, std::vector{*enough});
      const auto pool = try_pool(with);
      if (pool) {
        for (Advice& a : Advisor(with, *pool).to_fit()) {
          a.set.insert(a.set.begin(), *enough);
          list_.push_back(std::move(a));
        }
      }
    }
    std::ranges::stable_sort(list_, std::greater{}, &Advice::fits);
    return std::move(list_);
  }

  // What the rest leaves of a GPU on which the given pool is too large.
  void smaller_pool() {
    const Bytes over = pool_.ledger.budget - pool_.ledger.total;
    const Bytes now = pool_.ledger.kv;
    if (over.value() <= 0 || over >= now) return;
    const double steps = std::floor(static_cast<double>((now - over).value()) / pool_step);
    // Whole tenths of a GiB where they are fine enough: they print as they are.
    const double tenths = std::floor(steps / 102.4);
    const double size =
        tenths >= 10 ? std::floor(tenths / 10 * static_cast<double>(gib)) : steps * pool_step;
    keep_if_fits({number("kv_cache_memory_bytes", size)});
  }

  int gpus(int tp, int pp) const { return tp * pp * request_.options.plan.data_parallel_size; }

  // The smallest size that fits; twice the present one where it fits already.
  void more_gpus() {
    const spec::ParallelPlan& plan = request_.options.plan;
    int tp = plan.tensor_parallel_size + 1;
    if (pool_.fits) tp = 2 * plan.tensor_parallel_size;
    for (; gpus(tp, plan.pipeline_parallel_size) <= most_gpus; tp += pool_.fits ? tp : 1)
      if (keep_if_fits({number("tensor_parallel_size", tp)})) return;
  }
  void more_stages() {
    const spec::ParallelPlan& plan = request_.options.plan;
    for (int pp = plan.pipeline_parallel_size + 1;
         gpus(plan.tensor_parallel_size, pp) <= most_gpus && pp <= request_.model.num_layers; ++pp)
      if (keep_if_fits({number("pipeline_parallel_size", pp)})) return;
  }

  // The fewest whole GiB of weights on the host.
  void offload() {
    if (request_.options.rules.engine != memory::Engine::vllm_v1) return;
    const auto fits = [&](std::int64_t gibs) { return fits_with({size_of_offload(gibs)}); };
    const std::int64_t now = request_.options.cpu_offload.value() / gib;
    std::int64_t low = now, high = now + pool_.ledger.weights.value() / gib;
    if (high <= low || !fits(high)) return;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? high : low) = middle;
    }
    keep_if_fits({size_of_offload(high)});
  }
  static Setting size_of_offload(std::int64_t gibs) {
    return number("cpu_offload", static_cast<double>(gibs * gib));
  }

  // Fewer sequences free the sampler's share of the activation peak.
  void batch() {
    const auto useful = static_cast<std::int64_t>(pool_.max_concurrency) + 1;
    if (useful * 4 > pool_.options.max_num_seqs || !request_.options.kv_cache_memory.empty())
      return;
    const std::vector<Setting> set{
        number("max_num_seqs", static_cast<double>(std::max<std::int64_t>(useful, 8)))};
    const auto after = try_pool(changed(request_, set));
    if (after && static_cast<double>(after->tokens) >=
                     least_gain_of_batch * static_cast<double>(pool_.tokens))
      keep_better(set);
  }

  void combination() {
    for (const auto& set : savings(request_, pool_))
      if (keep_if_fits(set)) return;
  }

  // Fewest settings first, each with the longest length that it lets start.
  void shorter_combination(std::int64_t least) {
    for (auto set : savings(request_, pool_)) {
      auto shortest = set;
      shortest.push_back(number("max_model_len", static_cast<double>(least)));
      if (least > most_length() || !fits_with(shortest)) continue;
      const std::int64_t longest =
          largest_up_to(feasible_lengths(changed(request_, set)), most_length());
      if (longest < least) continue;
      set.push_back(number("max_model_len", static_cast<double>(longest)));
      if (keep_if_fits(set)) return;
    }
  }

  void combination_on_more_gpus() {
    for (auto& set : larger_splits(request_)) {
      const Request with = changed(request_, set);
      const auto after = try_pool(with);
      if (!after) continue;
      if (keep_if_fits(set)) return;
      const auto all = savings(with, *after);
      if (all.back().empty()) continue;
      auto most = set;
      most.insert(most.end(), all.back().begin(), all.back().end());
      if (keep_if_fits(most)) return;
    }
  }

 private:
  const Request& request_;
  const memory::Pool& pool_;
  std::vector<Advice> list_;
};

}  // namespace

std::vector<Advice> make_advice(const Request& request, const memory::Pool& pool) {
  Advisor advisor(request, pool);
  return pool.fits ? advisor.to_hold_more() : advisor.to_fit();
}

std::vector<Advice> other_gpus(const Request& r, std::span<const spec::GpuSpec> gpus) {
  // The pool that was given is as small on any GPU: only a larger one helps.
  if (const auto now = try_pool(r); now && pool_too_small(r, *now)) {
    const auto enough = enough_pool(r);
    if (!enough) return {};
    auto list = other_gpus(changed(r, std::vector{*enough}), gpus);
    for (Advice& a : list) a.set.insert(a.set.begin(), *enough);
    return list;
  }
  std::vector<spec::GpuSpec> larger;
  for (const spec::GpuSpec& gpu : gpus)
    if (gpu.id != r.gpu.id) larger.push_back(gpu);
  std::ranges::stable_sort(larger, {}, &spec::GpuSpec::usable_memory);
  const auto found = [&](std::vector<Setting> set) -> std::vector<Advice> {
    const auto pool = try_pool(changed(r, set, larger));
    if (!pool || !pool->fits) return {};
    return {{std::move(set), true,
             fmt::format("fits: {} KV tokens, {:.2f} requests of {}", format_integer(pool->tokens),
                         pool->max_concurrency, format_integer(pool->options.max_model_len))}};
  };
  for (const spec::GpuSpec& gpu : larger)
    if (auto advice = found({word("gpu", gpu.id)}); !advice.empty()) return advice;
  for (const auto& split : larger_splits(r))
    for (const spec::GpuSpec& gpu : larger) {
      std::vector<Setting> set{word("gpu", gpu.id)};
      set.insert(set.end(), split.begin(), split.end());
      const Request with = changed(r, set, larger);
      const auto pool = try_pool(with);
      if (!pool) continue;
      if (auto advice = found(set); !advice.empty()) return advice;
      const auto most = savings(with, *pool).back();
      set.insert(set.end(), most.begin(), most.end());
      if (auto advice = found(set); !advice.empty()) return advice;
    }
  return {};
}

}  // namespace kvsim::planner
