#include "kernels/quantized/source.h"

#include "kernels/fill/fill.h"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels {

float Source::value(std::uint64_t seed, std::uint64_t index) const {
  return to_float(to_bf16(offset + amplitude * noise_normal(seed, index)));
}

void Source::fill(Device& device, Array<Bf16>& array, std::size_t count, std::uint64_t seed) const {
  // The sum with an offset of 0 has no negative zeros, the product has.
  if (offset == 0 && amplitude != 0)
    return fill_bf16(device, array.view(), static_cast<std::int64_t>(count), seed, amplitude);
  std::vector<Bf16> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = to_bf16(value(seed, i));
  device.upload(array.view().address, values.data(), count * sizeof(Bf16));
}

}  // namespace kvsim::kernels
