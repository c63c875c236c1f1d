#pragma once
#include <cstdint>

#include "kernels/device/global.h"

namespace kvsim::kernels {

// A kernel with a mistake, or its twin without.
enum class Twin { planted, corrected };

struct RaceArgs {
  Global<const float> in;
  Global<float> partial, out;
  Global<unsigned> counter;
};

}  // namespace kvsim::kernels
