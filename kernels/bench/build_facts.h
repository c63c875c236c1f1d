#pragma once
#include "kernels/bench/document.h"

namespace kvsim::kernels::bench {

// What the build system knew when it configured.
BuildFacts build_facts();

}  // namespace kvsim::kernels::bench
