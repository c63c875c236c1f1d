#include "kernels/latency/chase.h"

#include <bit>
#include <stdexcept>

#include "kernels/latency/latency.h"

namespace kvsim::kernels {

PointerChase::PointerChase(Device& device, std::int64_t bytes)
    : device_(&device),
      lines_(static_cast<std::uint32_t>(bytes / (4 * chase_line_words))),
      buffer_(device, static_cast<std::size_t>(lines_) * chase_line_words),
      ends_(device, 2) {
  // 2^27 lines: the offsets are 32 bits wide.
  if (!std::has_single_bit(lines_) || lines_ > (1U << 27))
    throw std::invalid_argument("a pointer chase covers a power of two of bytes, 128 to 16 GiB");
  const ChaseLinkArgs args{buffer_.view(), lines_};
#if KVSIM_HAVE_CUDA
  if (device.backend() == Backend::gpu)
    gpu::launch_chase_links(args, device.stream());
  else
#endif
    cpu::launch_chase_links(args, device.stream());
  forget_position();
}

void PointerChase::walk(int steps, Stream stream) {
  KVSIM_VARIANTS(device_->backend(), chase_variants)
  [0].launch({buffer_.view(), ends_.view(), lines_, steps}, stream);
}

PointerChase::Ends PointerChase::ends() const {
  const auto ends = ends_.download();
  return {ends[0], ends[1]};
}

}  // namespace kvsim::kernels
