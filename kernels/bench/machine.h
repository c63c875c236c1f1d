#pragma once
#include "kernels/bench/document.h"

namespace kvsim::kernels::bench {

// Timing::machine_ceilings on the GPU. Errors: LaunchError.
Ceilings machine_ceilings(Device& device);

}  // namespace kvsim::kernels::bench
