#include "kernels/fill/fill.h"

namespace kvsim::kernels {
namespace {

template <class T>
void fill_on(Device& device, const FillArgs<T>& args) {
#if KVSIM_HAVE_CUDA
  if (device.backend() == Backend::gpu) {
    gpu::launch_fill(args, device.stream());
    return;
  }
#endif
  cpu::launch_fill(args, device.stream());
}

}  // namespace

void fill_bf16(Device& device, Global<Bf16> to, std::int64_t count, std::uint64_t seed,
               float scale) {
  fill_on(device, FillArgs<Bf16>{to, count, seed, scale});
}
void fill_e4m3(Device& device, Global<E4m3> to, std::int64_t count, std::uint64_t seed,
               float scale) {
  fill_on(device, FillArgs<E4m3>{to, count, seed, scale});
}
void fill_f32(Device& device, Global<float> to, std::int64_t count, std::uint64_t seed,
              float scale) {
  fill_on(device, FillArgs<float>{to, count, seed, scale});
}
void fill_bits(Device& device, Global<std::uint32_t> to, std::int64_t count, std::uint64_t seed) {
  fill_on(device, FillArgs<std::uint32_t>{to, count, seed});
}

}  // namespace kvsim::kernels
