#include "engine/profiles/sglang/waiting_queue.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

namespace kvsim::engine::sglang {
namespace {

constexpr std::size_t most_matched = 128;       // waiting requests that lpm looks up
constexpr std::int64_t few_cached = 32;         // up to here a prefix counts as not cached
constexpr std::int64_t follows_a_leader = 32;   // from here on it is worth waiting for
constexpr std::uint64_t shuffle_seed = 0x5617;  // SGLang's own is not fixed

SchedulePolicy effective(const SchedulerLimits& limits, bool caching) {
  const SchedulePolicy policy = limits.sglang.schedule_policy;
  const bool cache_aware = policy == SchedulePolicy::lpm || policy == SchedulePolicy::dfs_weight;
  return cache_aware && !caching ? SchedulePolicy::fcfs : policy;
}

}  // namespace

WaitingQueue::WaitingQueue(const SchedulerLimits& limits, RequestTable& requests, KvState& kv)
    : requests_(requests),
      kv_(kv),
      policy_(effective(limits, kv.caching())),
      by_priority_(limits.sglang.enable_priority_scheduling),
      low_first_(limits.sglang.schedule_low_priority_values_first),
      scratch_(kv::RadixOptions{}),
      random_(shuffle_seed) {}

bool WaitingQueue::before(Slot a, Slot b) const {
  if (by_priority_ && urgency(a) != urgency(b)) return urgency(a) > urgency(b);
  return policy_ == SchedulePolicy::lof && kv_[a].max_new > kv_[b].max_new;
}

void WaitingQueue::push(Slot slot) {
  kv_[slot].entry = ++entries_;
  const bool sorted =
      policy_ == SchedulePolicy::lof || (policy_ == SchedulePolicy::fcfs && by_priority_);
  // The newest stands behind its equals, as if a stable sort had come.
  queue_.insert(
      sorted ? std::ranges::upper_bound(queue_, slot, [&](Slot a, Slot b) { return before(a, b); })
             : queue_.end(),
      slot);
}

void WaitingQueue::order(std::span<const Slot> running) {
  switch (policy_) {
    case SchedulePolicy::fcfs:
    case SchedulePolicy::lof:
      return;
    case SchedulePolicy::lpm:
      if (queue_.size() > most_matched) return;
      return by_prefix();
    case SchedulePolicy::dfs_weight:
      return by_weight();
    case SchedulePolicy::random:
      return shuffle();
    case SchedulePolicy::routing_key:
      return by_running_key(running);
  }
}

// key(place) of every waiting request; the smaller goes first.
template <class Key>
void WaitingQueue::sort_by(Key key) {
  sorting_.clear();
  for (std::size_t i = 0; i < queue_.size(); ++i) sorting_.emplace_back(key(i), queue_[i]);
  std::ranges::stable_sort(sorting_, {}, &std::pair<std::int64_t, Slot>::first);
  for (std::size_t i = 0; i < queue_.size(); ++i) queue_[i] = sorting_[i].second;
}

// Here the whole of what a request knows is looked up; what counts is what admission can use, which
// leaves the last token out.
void WaitingQueue::match_all() {
  cached_.clear();
  for (const Slot slot : queue_) {
    RequestKv& held = kv_[slot];
    const kv::KeyView key = kv_.known_key(slot);
    const PrefixCache::Match found = kv_.cache().match(key);
    held.node = found.node;
    held.prefix = static_cast<std::int32_t>(found.length);
    cached_.push_back(std::min(found.length + found.host_length, key.tokens - 1));
  }
}

void WaitingQueue::by_prefix() {
  match_all();
  scratch_.reset();
  sort_by([&](std::size_t i) {
    if (kv_[queue_[i]].prefix > few_cached) return -cached_[i];
    const kv::KeyView key = kv_.known_key(queue_[i]);
    if (scratch_.match(key).length >= follows_a_leader)
      return std::numeric_limits<std::int64_t>::max();
    scratch_.insert(key);
    return -cached_[i];
  });
}

void WaitingQueue::by_weight() {
  match_all();
  const kv::RadixNodes& nodes = *kv_.cache().nodes();
  weight_.clear();
  at_node_.clear();
  for (const Slot slot : queue_) {
    kv::NodeId node = kv_[slot].node;
    at_node_[node].push_back(slot);
    for (; node != kv::no_node; node = nodes[node].parent) ++weight_[node];
  }
  queue_.clear();
  visit(kv::root_node);
}

void WaitingQueue::visit(kv::NodeId node) {
  const kv::RadixNodes& nodes = *kv_.cache().nodes();
  std::vector<std::pair<std::int64_t, kv::NodeId>> children;
  for (kv::NodeId c = nodes[node].first_child; c != kv::no_node; c = nodes[c].next)
    if (const auto found = weight_.find(c); found != weight_.end())
      children.emplace_back(-found->second, c);
  std::ranges::stable_sort(children, {}, &std::pair<std::int64_t, kv::NodeId>::first);
  for (const auto& child : children) visit(child.second);
  if (const auto here = at_node_.find(node); here != at_node_.end())
    queue_.insert(queue_.end(), here->second.begin(), here->second.end());
}

void WaitingQueue::shuffle() {
  for (std::size_t i = queue_.size(); i > 1; --i) std::swap(queue_[i - 1], queue_[random_() % i]);
}

void WaitingQueue::by_running_key(std::span<const Slot> running) {
  std::map<std::string_view, std::int64_t> count;
  for (const Slot slot : running)
    if (const std::string& key = requests_[slot].spec.session; !key.empty()) ++count[key];
  if (count.empty()) return;
  std::ranges::stable_sort(queue_, [&](Slot a, Slot b) {
    const std::string_view x = requests_[a].spec.session, y = requests_[b].spec.session;
    const auto p = count.find(x), q = count.find(y);
    if (p == count.end() || q == count.end()) return p != count.end();
    return p->second != q->second ? p->second > q->second : x < y;
  });
}

}  // namespace kvsim::engine::sglang
