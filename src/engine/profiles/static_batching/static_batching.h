#pragma once
#include <memory>

#include "engine/profile.h"

namespace kvsim::engine {

// Engines before paging: every request holds one contiguous run of slots from its admission to its
// end, and a prompt is computed whole, in the step that admits it.
//
//   batching request    FasterTransformer: the earliest requests, at most max_num_seqs of them, run
//                       as a batch until the longest has ended. Members that end early get their
//                       last token then, but their slots and places stay taken; nobody joins.
//   batching iteration  Orca: in every step a place and slots that have become free are taken by
//                       the next request in order of arrival; the first that does not fit stops the
//                       admission.
//
// Under iteration-level batching max_num_batched_tokens bounds a step's tokens; a prompt that is
// longer runs in a step without other prompts. Reservations are in whole blocks of block_size, one
// slot by default. Cost per step: O(running), and of an admission one call of the allocator
// (kv/contiguous). After Yu et al., OSDI 2022 (Orca) and Kwon et al., SOSP 2023, sections 3.1, 6.1
// and 6.2.
std::unique_ptr<Profile> make_static_batching(const SchedulerLimits& limits,
                                              RequestTable& requests);

// Slots that a request gets: prompt and `output` true output tokens, at most max_model_len.
std::int64_t reservation_tokens(Reservation how, std::int64_t prompt, std::int64_t output,
                                std::int64_t max_model_len);

}  // namespace kvsim::engine
