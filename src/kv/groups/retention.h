#pragma once
#include <cstdint>
#include <optional>

#include "kv/groups/group_spec.h"
#include "kv/groups/group_table.h"

namespace kvsim::kv {

// Which full blocks of window and state groups get a hash (vLLM's prefix_cache_retention_interval,
// main of 2026-08-17). Full and chunked-local groups keep all.
struct Retention {
  // None: all. 0: what a resume at the end of the prompt needs, rounded down to a block with one
  // token left to compute, or at the point where a request left the prompts before it. n: also what
  // a resume at each multiple of n needs.
  std::optional<std::int64_t> interval = 0;
  // A drafter needs the block behind the point of resume too. At the end of a prompt that block is
  // not full and the blocks are kept as without a drafter: what is kept there and what a repeat of
  // the prompt can reach differ by a block.
  bool drafting = false;

  // Whether full block `index` of a request in this group stays reusable.
  bool keeps(const GroupSpec& spec, const GroupTable& table, std::int64_t index) const;
};

}  // namespace kvsim::kv
