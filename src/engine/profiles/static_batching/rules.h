#pragma once
#include <array>

#include "engine/registry.h"

namespace kvsim::engine {

// What the profile `static` follows, for its registry row and `kvsim explain profile static`.
inline constexpr std::array static_batching_rules{
    ProfileRule{"request-level batching: the earliest requests run as a batch until its longest "
                "member ends; "
                "members that ended keep their slots and places, nobody joins",
                "FasterTransformer, as described by Yu et al., OSDI 2022, section 2"},
    ProfileRule{"iteration-level batching: a request that ends leaves at once and the next in "
                "order of arrival "
                "joins in the next step",
                "Yu et al., OSDI 2022 (Orca), section 3.1"},
    ProfileRule{"reservation max: max_model_len contiguous slots; pow2: the prompt and the next "
                "power of two "
                "of the true output; oracle: the prompt and the true output",
                "Kwon et al., SOSP 2023, section 6.1"},
    ProfileRule{
        "allocator buddy: sizes are powers of two; exact: the lowest place of exactly that size",
        "Kwon et al., SOSP 2023, section 6.1; kvsim's own for exact"},
    ProfileRule{"the first request that does not fit stops the admission; nobody is preempted",
                "Yu et al., OSDI 2022, algorithm 1"},
    ProfileRule{"prompts are computed whole, in the step that admits them",
                "Yu et al., OSDI 2022, section 3.2"},
};

}  // namespace kvsim::engine
