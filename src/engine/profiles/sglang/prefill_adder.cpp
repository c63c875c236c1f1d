#include "engine/profiles/sglang/prefill_adder.h"

#include <algorithm>

namespace kvsim::engine::sglang {

PrefillAdder::PrefillAdder(const SchedulerLimits& limits, KvState& kv)
    : kv_(kv), max_prefill_tokens_(limits.sglang.max_prefill_tokens) {
  const std::int64_t chunk = limits.sglang.chunked_prefill_size.value_or(-1);
  if (chunk > 0 && limits.enable_chunked_prefill) chunk_size_ = chunk;
}

void PrefillAdder::begin(double reserved, std::int64_t decodes) {
  reserved_ = static_cast<double>(decodes) + reserved;
  reserved_now_ = decodes;
  input_left_ = max_prefill_tokens_ - decodes;
  chunk_left_ = chunk_size_.value_or(0) - decodes;
  batch_.clear();
  cut_ = no_slot;
}

double PrefillAdder::free_total() const {
  return static_cast<double>(kv_.available() + kv_.cache().evictable()) - reserved_;
}

std::int64_t PrefillAdder::most_outputs(Slot slot) const {
  return std::min<std::int64_t>(kv_[slot].max_new, clip_max_new_tokens);
}

PrefillAdder::Chunk PrefillAdder::add_chunk(Slot slot) {
  RequestKv& held = kv_[slot];
  std::int64_t room = std::min(chunk_left_, static_cast<std::int64_t>(free_total()));
  if (room <= 0)
    room = std::min(chunk_left_, kv_.ceil_page(held.prefix) - held.prefix + kv_.available() +
                                     kv_.cache().evictable());
  if (room <= 0) return Chunk::waits;
  const bool more = held.extend > room;
  held.extend = static_cast<std::int32_t>(std::min<std::int64_t>(held.extend, room));
  batch_.push_back(slot);
  spend(held.extend, more ? 0 : most_outputs(slot));
  return more ? Chunk::goes_on : Chunk::last;
}

PrefillAdder::Answer PrefillAdder::add(Slot slot) {
  const RequestKv& held = kv_[slot];
  const std::int64_t needed =
      held.extend + std::clamp<std::int64_t>(kv_.remaining(slot), 0, clip_max_new_tokens) +
      kv_.page();
  if (!fits(needed)) return {Verdict::no_token};
  if (!chunk_size_ && !batch_.empty() && kv_.ceil_page(held.extend - held.host) >= input_left_)
    return {Verdict::budget_used};
  // Locking the prefix may take slots out of what can be evicted: the test is made again.
  const kv::NodeId node = held.node;
  kv_.cache().lock(node);
  const Answer answer = fits(needed) ? decide(slot) : Answer{Verdict::no_token};
  kv_.cache().unlock(node);
  return answer.verdict == Verdict::go_on ? Answer{budget(), answer.added, answer.loaded} : answer;
}

PrefillAdder::Answer PrefillAdder::decide(Slot slot) {
  RequestKv& held = kv_[slot];
  const std::int64_t loaded = held.host > 0 ? kv_.load_back(slot) : 0;
  const std::int64_t input = kv_.ceil_page(held.extend);
  if (!chunk_size_ && !batch_.empty() && input >= input_left_)
    return {Verdict::budget_used, false, loaded};
  if (!chunk_size_ || input <= chunk_left_) {
    spend(input, most_outputs(slot));
  } else {
    const std::int64_t part = chunk_left_ / kv_.page() * kv_.page();
    if (part <= 0) return {Verdict::budget_used, false, loaded};
    held.extend = static_cast<std::int32_t>(part);
    cut_ = slot;
    spend(part, 0);
  }
  batch_.push_back(slot);
  kv_.cache().lock(held.node);
  return {Verdict::go_on, true, loaded};
}

void PrefillAdder::spend(std::int64_t extend, std::int64_t outputs) {
  extend = kv_.ceil_page(extend);
  reserved_ += static_cast<double>(extend + outputs + kv_.page());
  reserved_now_ += extend + kv_.page();
  input_left_ -= extend;
  chunk_left_ -= extend;
}

PrefillAdder::Verdict PrefillAdder::budget() const {
  const std::int64_t free = kv_.available() + kv_.cache().evictable();
  if (free_total() <= 0 || free <= reserved_now_) return Verdict::no_token;
  if (input_left_ <= 0 || (chunk_size_ && chunk_left_ <= 0)) return Verdict::budget_used;
  return Verdict::go_on;
}

}  // namespace kvsim::engine::sglang
