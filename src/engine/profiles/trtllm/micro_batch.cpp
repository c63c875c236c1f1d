#include "engine/profiles/trtllm/micro_batch.h"

#include <algorithm>

namespace kvsim::engine {
namespace {

void serve_first_come(std::span<MicroBatchItem> items, std::int64_t room, std::int64_t unit) {
  for (MicroBatchItem& item : items) {
    if (!item.context) continue;
    std::int64_t chunk = std::min(item.wanted, room);
    if (chunk < item.wanted) chunk -= chunk % unit;
    item.tokens = chunk;
    room -= chunk;
  }
}

void serve_equally(std::span<MicroBatchItem> items, std::int64_t room, std::int64_t unit) {
  for (MicroBatchItem& item : items)
    if (item.context) item.tokens = 0;
  for (bool grows = true; grows;) {
    grows = false;
    for (MicroBatchItem& item : items) {
      if (!item.context) continue;
      const std::int64_t more = std::min(unit, item.wanted - item.tokens);
      if (more == 0 || more > room) continue;
      item.tokens += more;
      room -= more;
      grows = true;
    }
  }
}

}  // namespace

MicroBatchEnd fill_micro_batch(std::span<MicroBatchItem> items, const MicroBatchLimits& limits) {
  std::int64_t used = 0, contexts = 0;
  std::size_t size = 0;
  MicroBatchEnd end = MicroBatchEnd::all_fit;
  for (MicroBatchItem& item : items) item.tokens = 0;
  for (MicroBatchItem& item : items) {
    if (static_cast<std::int64_t>(size) == limits.max_batch_size) {
      end = MicroBatchEnd::max_batch_size;
      break;
    }
    const bool chunked = item.context && limits.chunked_context;
    if (!chunked && used + item.wanted > limits.max_num_tokens) {
      end = MicroBatchEnd::max_num_tokens;
      break;
    }
    item.tokens = item.wanted;
    (chunked ? contexts : used) += item.wanted;
    ++size;
  }
  const std::int64_t room = limits.max_num_tokens - used;
  if (contexts <= room) return end;
  if (limits.policy == ContextChunkingPolicy::equal_progress)
    serve_equally(items.first(size), room, limits.chunk_unit);
  else
    serve_first_come(items.first(size), room, limits.chunk_unit);
  return MicroBatchEnd::max_num_tokens;
}

}  // namespace kvsim::engine
