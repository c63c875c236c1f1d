#include "planner/room.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/change.h"
#include "units/format.h"

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

constexpr int largest_fraction = 980;  // in thousandths
constexpr int most_gpus = 64;

class RoomMaker {
 public:
  RoomMaker(const Request& request, const RoomAsk& ask)
      : request_(request), tokens_(ask.tokens), requests_(ask.requests) {}

  bool holds_all(const memory::Pool& pool) const {
    const std::int64_t each = ceil_div(requests_, pool.options.plan.data_parallel_size);
    return memory::Holding(pool).requests(tokens_) >= each;
  }
  bool enough(const memory::Pool& pool) const {
    return holds_all(pool) && pool.feasible_len >= pool.options.max_model_len;
  }
  bool does(const Request& r) const {
    const auto pool = try_pool(r);
    return pool && pool->fits && enough(*pool);
  }

  // The smallest pool, whatever else is on the GPU.
  std::optional<Bytes> kv_memory() const {
    Request r = request_;
    r.options.num_gpu_blocks_override.reset();
    const auto holds = [&](std::int64_t bytes) {
      r.options.kv_cache_memory = {Bytes(bytes)};
      const auto pool = try_pool(r);
      return pool && enough(*pool);
    };
    std::int64_t low = 0, high = gib;
    while (!holds(high)) {
      if (high > std::int64_t{1} << 50) return std::nullopt;
      low = high, high *= 2;
    }
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (holds(middle) ? high : low) = middle;
    }
    return Bytes(high);
  }

  std::optional<double> fraction(Request r) const {
    r.options.kv_cache_memory.clear();
    r.options.num_gpu_blocks_override.reset();
    const auto holds = [&](int thousandths) {
      r.options.memory_fraction = thousandths / 1000.0;
      return does(r);
    };
    if (!holds(largest_fraction)) return std::nullopt;
    int low = 0, high = largest_fraction;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (middle > 0 && holds(middle) ? high : low) = middle;
    }
    return high / 1000.0;
  }

  // Other settings, each with the fraction it needs where the engine has one.
  std::optional<Advice> with(std::vector<Setting> set, const std::string& flag) const {
    Request r = changed(request_, set);
    if (!does(r)) {
      const auto share = flag.empty() ? std::nullopt : fraction(r);
      if (!share) return std::nullopt;
      set.push_back(number(flag, *share));
      r.options.kv_cache_memory.clear();
      r.options.memory_fraction = share;
    }
    const auto pool = try_pool(r);
    return Advice{std::move(set), true,
                  fmt::format("holds {}", format_integer(memory::Holding(*pool).requests(tokens_) *
                                                         r.options.plan.data_parallel_size))};
  }

  // Of the splits of one size, one that needs no other fraction goes first.
  std::optional<Advice> of_fewest_gpus(const std::vector<std::vector<Setting>>& splits,
                                       const std::string& flag) const {
    const auto gpus = [](const std::vector<Setting>& s) { return s[0].number * s[1].number; };
    for (auto first = splits.begin(); first != splits.end();) {
      const auto last =
          std::find_if(first, splits.end(), [&](const auto& s) { return gpus(s) != gpus(*first); });
      for (const std::string& with_flag : {std::string(), flag})
        for (auto set = first; set != last; ++set)
          if (auto advice = with(*set, with_flag)) return advice;
      first = last;
    }
    return std::nullopt;
  }

  // A narrower KV format, replicas, a split, and a split with the format: the fewest GPUs of each.
  std::vector<Advice> instead(const std::string& flag) const {
    std::vector<Advice> list;
    const auto add = [&](std::vector<Setting> set) {
      auto advice = with(std::move(set), flag);
      if (advice) list.push_back(std::move(*advice));
      return advice.has_value();
    };
    const bool wide = request_.options.kv_dtype.bits_per_element() > 8 &&
                      request_.options.rules.engine != memory::Engine::llamacpp;
    if (wide) add({word("kv_cache_dtype", "fp8")});
    const spec::ParallelPlan& plan = request_.options.plan;
    const int one = plan.tensor_parallel_size * plan.pipeline_parallel_size;
    for (int dp = plan.data_parallel_size + 1; one * dp <= most_gpus; ++dp)
      if (add({number("data_parallel_size", dp)})) break;
    auto splits = larger_splits(request_);
    if (auto plain = of_fewest_gpus(splits, flag)) {
      list.push_back(std::move(*plain));
      return list;
    }
    if (!wide) return list;
    for (auto& set : splits) set.push_back(word("kv_cache_dtype", "fp8"));
    if (auto narrow = of_fewest_gpus(splits, flag)) list.push_back(std::move(*narrow));
    return list;
  }

 private:
  const Request& request_;
  std::int64_t tokens_, requests_;
};

}  // namespace

std::string fraction_name(memory::Engine engine) {
  switch (engine) {
    case memory::Engine::vllm_v1:
    case memory::Engine::static_batching:
      return "gpu_memory_utilization";
    case memory::Engine::sglang:
      return "mem_fraction_static";
    case memory::Engine::trtllm:
      return "free_gpu_memory_fraction";
    case memory::Engine::llamacpp:
      return "";
  }
  return "";
}

Room make_room(const Request& asked, const RoomAsk& ask) {
  const Request r = resolved(asked);
  const RoomMaker maker(r, ask);
  Room room;
  room.ask = ask;
  const memory::Pool now = memory::size_pool(r.model, r.gpu, r.options);
  if (now.fits)
    room.holds = memory::Holding(now).requests(ask.tokens) * r.options.plan.data_parallel_size;
  room.fraction_flag = fraction_name(r.options.rules.engine);
  room.kv_memory = maker.kv_memory();
  if (room.kv_memory) {
    Request with = r;
    with.options.kv_cache_memory = {*room.kv_memory};
    with.options.num_gpu_blocks_override.reset();
    room.kv_memory_fits = maker.does(with);
    room.deployment_kv = Bytes(room.kv_memory->value() * r.options.plan.gpus());
    with.options.kv_cache_memory = {Bytes(room.kv_memory->value() - 1)};
    const auto smaller = try_pool(with);
    room.length_binds = smaller && maker.holds_all(*smaller);
  }
  if (!room.fraction_flag.empty()) room.fraction = maker.fraction(r);
  if (!room.fraction && !room.kv_memory_fits) room.instead = maker.instead(room.fraction_flag);
  return room;
}

}  // namespace kvsim::planner
