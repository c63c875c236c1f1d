#pragma once
#include <span>

#include "kernels/device/global.h"
#include "kernels/host/device.h"
#include "kernels/host/problem.h"

namespace kvsim::kernels {

// A way to run a family's kernel. Each backend builds the family's list from the same .cuh, in the
// same order. `supports` says whether the variant can do these arguments (null: all).
template <class Args>
struct Variant {
  const char* name;
  int min_cc;
  bool baseline;
  void (*launch)(const Args&, Stream);
  bool (*supports)(const Args&) = nullptr;
};

template <class Args>
using VariantList = std::span<const Variant<Args>>;

}  // namespace kvsim::kernels

// The list of the device's backend: KVSIM_VARIANTS(device.backend(), decode_variants) is
// cpu::decode_variants() or gpu::decode_variants(). The latter exists in builds with CUDA only,
// where alone a GPU device can be made.
#if KVSIM_HAVE_CUDA
#define KVSIM_VARIANTS(backend, function) \
  ((backend) == ::kvsim::kernels::Backend::cpu ? cpu::function() : gpu::function())
#else
#define KVSIM_VARIANTS(backend, function) (static_cast<void>(backend), cpu::function())
#endif
