#include "engine/profiles/sglang/kv_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/check.h"
#include "diag/diagnostic.h"

namespace kvsim::engine::sglang {

KvState::KvState(const SchedulerLimits& limits, RequestTable& requests)
    : requests_(requests),
      cache_(make_prefix_cache(limits)),
      page_(limits.block_tokens),
      pool_(limits.num_blocks * limits.block_tokens),
      available_(pool_),
      max_model_len_(limits.max_model_len),
      caching_(cache_->nodes() != nullptr) {}

void KvState::arrive(Slot slot) {
  if (static_cast<std::size_t>(slot) >= held_.size())
    held_.resize(static_cast<std::size_t>(slot) + 1);
  RequestKv& held = (*this)[slot];
  const RequestState& r = requests_[slot];
  kv::RadixKey key = std::move(held.key);  // its memory serves again
  held = RequestKv();
  // SGLang cuts max_new_tokens at what the context and the pool leave.
  const std::int64_t room = std::min(max_model_len_, pool_ - page_ - 1) - r.prompt_tokens;
  held.max_new = static_cast<std::int32_t>(
      std::max<std::int64_t>(r.stop_at - r.prompt_tokens, std::min(r.spec.max_tokens, room)));
  key.clear(r.spec.prefix_key());
  for (const workload::Span& span : r.spec.prompt)
    key.append({span.content, span.offset, span.length});
  key.append({workload::output_content(r.spec.id), 0, held.max_new + 1});
  held.key = std::move(key);
}

void KvState::look_up(Slot slot) {
  RequestKv& held = (*this)[slot];
  const PrefixCache::Match found = cache_->match(held.key.view().first(known(slot) - 1));
  held.prefix = static_cast<std::int32_t>(found.length);
  held.host = static_cast<std::int32_t>(found.host_length);
  held.node = found.node;
  held.host_node = found.host_node;
  held.extend = known(slot) - held.prefix;
}

std::int64_t KvState::load_back(Slot slot) {
  RequestKv& held = (*this)[slot];
  const PrefixCache::Loaded done = cache_->load_back(held.host_node, available_);
  available_ += done.evicted - done.tokens;
  evicted_ += done.evicted;
  if (done.tokens == 0) return 0;
  held.node = held.host_node;
  held.prefix += static_cast<std::int32_t>(done.tokens);
  held.extend -= static_cast<std::int32_t>(done.tokens);
  return done.tokens;
}

void KvState::evict(std::int64_t tokens) {
  const std::int64_t freed = cache_->evict(tokens);
  available_ += freed;
  evicted_ += freed;
}

void KvState::out_of_memory(std::int64_t tokens) const {
  Diagnostic d;
  d.code = "engine-out-of-memory";
  d.message = fmt::format(
      "SGLang ends with \"out of memory\" here: a batch needs {} slots, {} are free and {} more "
      "could be evicted ({} requests hold the rest of {})",
      tokens, available_, cache_->evictable(), admitted_, pool_);
  d.hint = "raise schedule_conservativeness, take a larger pool, or a smaller max_running_requests";
  throw InputError(std::move(d));
}

void KvState::take_prefill(std::span<const Slot> batch) {
  std::int64_t most = 0, need = 0;
  for (const Slot slot : batch) {
    const RequestKv& held = (*this)[slot];
    most += held.extend;
    need += ceil_page(held.prefix + held.extend) - requests_[slot].slot_tokens;
  }
  // SGLang makes room for a page more per request than it may need.
  make_room(page_ == 1 ? most : most + static_cast<std::int64_t>(batch.size()) * page_);
  if (need > available_) out_of_memory(need);
  available_ -= need;
  for (const Slot slot : batch) {
    RequestKv& held = (*this)[slot];
    held.filled = requests_[slot].computed = held.prefix + held.extend;
    requests_[slot].slot_tokens = static_cast<std::int32_t>(ceil_page(held.filled));
  }
}

std::int64_t KvState::decode_need(std::span<const Slot> batch) const {
  std::int64_t pages = 0;
  for (const Slot slot : batch) pages += requests_[slot].computed == requests_[slot].slot_tokens;
  return pages * page_;
}

bool KvState::room_for_decode(std::span<const Slot> batch) {
  const std::int64_t need = decode_need(batch);
  make_room(need);
  return available_ >= need;
}

bool KvState::take_decode(std::span<const Slot> batch) {
  // SGLang makes room for a new page for everybody.
  make_room(static_cast<std::int64_t>(batch.size()) * page_);
  const std::int64_t need = decode_need(batch);
  if (need > available_) return false;
  available_ -= need;
  for (const Slot slot : batch) {
    RequestState& r = requests_[slot];
    if (r.computed == r.slot_tokens) r.slot_tokens += static_cast<std::int32_t>(page_);
    ++r.computed;
  }
  return true;
}

void KvState::admit(Slot slot) {
  ++admitted_;
  holders_.push_back(slot);
  RequestKv& held = (*this)[slot];
  held.shared = held.prefix;
  requests_[slot].computed = requests_[slot].slot_tokens = held.prefix;
}

void KvState::store(Slot slot, kv::InsertKind kind) {
  RequestKv& held = (*this)[slot];
  held.prefix = held.filled;
  if (!caching_) return;
  const kv::KeyView key = held.key.view().first(held.filled / page_ * page_);
  // What the tree had already is given back.
  available_ += cache_->insert(key, requests_[slot].spec.priority, kind) - held.shared;
  const PrefixCache::Match found = cache_->match(key);
  KVSIM_CHECK(found.length == key.tokens, "{} of {} tokens just inserted are found", found.length,
              key.tokens);
  held.shared = static_cast<std::int32_t>(found.length);
  cache_->unlock(held.node);
  cache_->lock(found.node);
  held.node = found.node;
}

void KvState::finish(Slot slot) {
  RequestKv& held = (*this)[slot];
  const RequestState& r = requests_[slot];
  if (caching_) {
    const std::int64_t whole = r.computed / page_ * page_;
    const std::int64_t prefix =
        cache_->insert(held.key.view().first(whole), r.spec.priority, kv::InsertKind::whole);
    available_ += prefix - held.shared + r.slot_tokens - whole;
  } else {
    available_ += r.slot_tokens;
  }
  release(slot);
}

void KvState::drop(Slot slot) {
  available_ += requests_[slot].slot_tokens - (*this)[slot].shared;
  release(slot);
}

void KvState::release(Slot slot) {
  RequestKv& held = (*this)[slot];
  cache_->unlock(held.node);
  held.node = held.host_node = kv::root_node;
  held.prefix = held.extend = held.shared = held.host = 0;
  requests_[slot].computed = requests_[slot].slot_tokens = 0;
  --admitted_;
  const auto at = std::ranges::find(holders_, slot);
  KVSIM_CHECK(at != holders_.end(), "request slot {} holds no slots of the pool", slot);
  *at = holders_.back();
  holders_.pop_back();
}

void KvState::verify() const {
  cache_->verify();
  std::int64_t own = 0;
  for (const Slot slot : holders_) own += requests_[slot].slot_tokens - (*this)[slot].shared;
  const std::int64_t tree = cache_->evictable() + cache_->locked();
  KVSIM_CHECK(available_ + tree + own == pool_,
              "{} free slots, {} in the tree and {} of requests do not add up to {}", available_,
              tree, own, pool_);
  KVSIM_CHECK(admitted_ > 0 || cache_->copies_pending() || cache_->locked() == 0,
              "{} slots are locked and no request runs", cache_->locked());
}

}  // namespace kvsim::engine::sglang
