#include "kernels/fill/fill.h"

#include <doctest/doctest.h>

#include <bit>

#include "kernels/numbers/noise.h"

using namespace kvsim::kernels;

namespace {

const std::size_t lengths[] = {0, 1, 7, 8, 9, 2047, 2048, 2049, 5000};

}  // namespace

TEST_SUITE("quick") {
  TEST_CASE("a filled bf16 array holds the rounded noise of its index at every length") {
    const auto device = make_cpu_device({.schedule_seed = 5, .count_bytes = true});
    for (const std::size_t length : lengths) {
      Array<Bf16> array(*device, length);
      device->count_from_here();
      fill_bf16(*device, array, 11, 0.25F);
      CHECK(device->touched()->total_written == array.bytes());
      const auto got = array.download();
      std::size_t equal = 0;
      for (std::size_t i = 0; i < length; ++i)
        equal += got[i].bits == to_bf16(0.25F * noise_normal(11, i)).bits ? 1U : 0U;
      CHECK(equal == length);
    }
  }

  TEST_CASE("a filled e4m3 array holds the rounded noise of its index at every length") {
    const auto device = make_cpu_device({.schedule_seed = 9});
    for (const std::size_t length : lengths) {
      Array<E4m3> array(*device, length);
      fill_e4m3(*device, array, 12, 1.5F);
      const auto got = array.download();
      std::size_t equal = 0;
      for (std::size_t i = 0; i < length; ++i)
        equal += got[i].bits == to_e4m3(1.5F * noise_normal(12, i)).bits ? 1U : 0U;
      CHECK(equal == length);
    }
  }

  TEST_CASE("filled floats and words hold the noise of their index at every length") {
    const auto device = make_cpu_device({.count_bytes = true});
    for (const std::size_t length : lengths) {
      Array<float> floats(*device, length);
      Array<std::uint32_t> words(*device, length);
      fill_f32(*device, floats, 3, 2.0F);
      fill_bits(*device, words, 4);
      const auto got = floats.download();
      const auto bits = words.download();
      std::size_t equal = 0;
      for (std::size_t i = 0; i < length; ++i)
        equal += got[i] == 2.0F * noise_normal(3, i) &&
                         bits[i] == static_cast<std::uint32_t>(noise_bits(4, i))
                     ? 1U
                     : 0U;
      CHECK(equal == length);
    }
  }
}
