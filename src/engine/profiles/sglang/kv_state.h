#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/profiles/sglang/prefix_cache.h"

namespace kvsim::engine::sglang {

// What a request has beside its RequestState, there the tokens with KV (`computed`) and the slots
// that these take in whole pages (`slot_tokens`).
struct RequestKv {
  kv::RadixKey key = kv::RadixKey();  // its prompt and all the outputs that it can have
  kv::NodeId node = kv::root_node, host_node = kv::root_node;  // ends of its prefix
  std::int32_t prefix = 0;   // tokens that its next prefill need not compute
  std::int32_t host = 0;     // tokens behind them that the host has
  std::int32_t extend = 0;   // tokens that the next prefill computes
  std::int32_t filled = 0;   // tokens with KV after its newest prefill
  std::int32_t shared = 0;   // its first tokens, whose slots are the tree's (cache_protected_len)
  std::int32_t max_new = 0;  // most output tokens
  std::int64_t entry = 0;    // order of entry into the waiting queue
  bool ended = false;
};

// The slots of one instance: free ones, the tree's, and each request's own. All counts of slots are
// tokens in whole pages. A request holds a lock on the node where its prefix ends from admission
// until it ends or is dropped.
//
// Sources: mem_cache/{radix_cache,chunk_cache,common}.py, managers/schedule_batch.py.
class KvState {
 public:
  KvState(const SchedulerLimits& limits, RequestTable& requests);

  RequestKv& operator[](Slot slot) { return held_[static_cast<std::size_t>(slot)]; }
  const RequestKv& operator[](Slot slot) const { return held_[static_cast<std::size_t>(slot)]; }
  void arrive(Slot slot);
  kv::KeyView known_key(Slot slot) const { return (*this)[slot].key.view().first(known(slot)); }
  std::int32_t outputs(Slot slot) const {
    return requests_[slot].tokens - requests_[slot].prompt_tokens;
  }
  // Output tokens that may still come.
  std::int32_t remaining(Slot slot) const { return (*this)[slot].max_new - outputs(slot); }

  // Looks a waiting request up in the tree, all but its last token.
  void look_up(Slot slot);
  // The next chunk of a request in prefill: its KV so far is its prefix.
  void look_up_chunk(Slot slot) { (*this)[slot].extend = known(slot) - (*this)[slot].prefix; }
  // Copies what the host has of the request's prefix; its lock moves with it when `tokens` > 0.
  std::int64_t load_back(Slot slot);

  std::int64_t ceil_page(std::int64_t tokens) const { return (tokens + page_ - 1) / page_ * page_; }
  std::int64_t page() const { return page_; }
  // When fewer slots are free, so many are evicted from the tree: always the whole number.
  void make_room(std::int64_t tokens) {
    if (available_ < tokens) evict(tokens);
  }
  // A batch of prefills gets its slots, those that it needs. The requests' prefixes are locked.
  void take_prefill(std::span<const Slot> batch);
  // Slots that one more token for each of them needs.
  std::int64_t decode_need(std::span<const Slot> batch) const;
  bool room_for_decode(std::span<const Slot> batch);
  // False: they do not fit, whatever is evicted, and nothing is taken.
  bool take_decode(std::span<const Slot> batch);

  void admit(Slot slot);  // a waiting request joins its first batch, with the prefix found
  // A prefill or a chunk of one has its KV: it goes into the tree, where others find it.
  void store(Slot slot, kv::InsertKind kind);
  void finish(Slot slot);  // its KV goes into the tree
  void drop(Slot slot);    // its own slots are free, the tree keeps what it has
  // A batch that must run does not fit: where the engine ends, the simulation does.
  [[noreturn]] void out_of_memory(std::int64_t tokens) const;

  PrefixCache& cache() { return *cache_; }
  const PrefixCache& cache() const { return *cache_; }
  bool caching() const { return caching_; }
  std::int64_t pool() const { return pool_; }
  std::int64_t available() const { return available_; }
  std::int64_t evicted() const { return evicted_; }
  std::int64_t admitted() const { return admitted_; }  // requests that hold slots
  // free + tree + requests = pool, and locks are gone when the requests are; throws InternalError.
  void verify() const;

 private:
  std::int32_t known(Slot slot) const { return requests_[slot].tokens; }
  void evict(std::int64_t tokens);
  void release(Slot slot);

  RequestTable& requests_;
  std::unique_ptr<PrefixCache> cache_;
  std::vector<RequestKv> held_;  // by slot
  std::vector<Slot> holders_;    // admitted requests, for verify()
  std::int64_t page_, pool_, available_, max_model_len_;
  bool caching_;
  std::int64_t evicted_ = 0, admitted_ = 0;
};

}  // namespace kvsim::engine::sglang
