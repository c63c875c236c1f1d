#include "kv/groups/retention.h"

namespace kvsim::kv {

bool Retention::keeps(const GroupSpec& spec, const GroupTable& table, std::int64_t index) const {
  if (!interval || spec.kind == GroupKind::full || spec.kind == GroupKind::chunked_local)
    return true;
  const bool state = spec.kind == GroupKind::mamba;
  const std::int64_t before = state ? 1 : spec.blocks(spec.window - 1);
  const std::int64_t behind = drafting && !state ? 1 : 0;
  const auto needed = [&](std::int64_t point, std::int64_t more) {
    const std::int64_t block = point / spec.block_tokens;
    return block - before <= index && index < block + more;
  };
  if (needed(table.prompt_tokens - 1, 0)) return true;
  if (table.shared_prefix > 0 && needed(table.shared_prefix, behind)) return true;
  if (*interval == 0) return false;
  // The multiple of the interval at or after the block's end, and the one before it, whose block
  // behind this may be.
  const std::int64_t next = ceil_blocks((index + 1) * spec.block_tokens, *interval) * *interval;
  return needed(next, 0) || (next > *interval && needed(next - *interval, behind));
}

}  // namespace kvsim::kv
