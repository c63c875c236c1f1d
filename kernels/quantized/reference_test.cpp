#include "kernels/quantized/reference.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/numbers/noise.h"

using namespace kvsim::kernels;

namespace {

// |x' - x| / |x| of a normal tensor through quantise_block and dequantise_block.
double round_trip_error(KvFormat format, KvSide side) {
  constexpr int page = 512;
  const float scale = format == KvFormat::nvfp4 ? 6.0F / (448 * 6) : 0.0125F;
  const BlockShape shape{.format = format, .side = side, .page = page, .scale = scale};
  std::vector<float> values(page * quantised_dim);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = noise_normal(11, i);
  std::vector<std::uint8_t> block(static_cast<std::size_t>(block_bytes(format, page)));
  quantise_block(shape, values, 0, page, block);
  const auto back = dequantise_block(shape, block, page);
  double error = 0, sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += std::pow(back[i] - static_cast<double>(values[i]), 2);
    sum += std::pow(static_cast<double>(values[i]), 2);
  }
  return std::sqrt(error / sum);
}

}  // namespace

TEST_CASE("round trips of normal values lose what each format is known to lose") {
  struct Known {
    KvFormat format;
    double error;
  };
  for (const Known known :
       {Known{KvFormat::fp8, 0.026}, Known{KvFormat::int8, 0.0065}, Known{KvFormat::int4, 0.090},
        Known{KvFormat::kivi2, 0.39}, Known{KvFormat::nvfp4, 0.095}})
    for (const KvSide side : {KvSide::key, KvSide::value}) {
      CAPTURE(format_name(known.format));
      CHECK(round_trip_error(known.format, side) == doctest::Approx(known.error).epsilon(0.05));
    }
}

TEST_CASE("bytes per token and head are those of the formats with their scales") {
  CHECK(block_bytes(KvFormat::fp8, 16) == 16 * 128);
  CHECK(block_bytes(KvFormat::int8, 16) == 16 * 130);
  CHECK(block_bytes(KvFormat::int4, 16) == 16 * 72);
  CHECK(block_bytes(KvFormat::nvfp4, 16) == 16 * 72);
  CHECK(block_bytes(KvFormat::kivi2, 32) == 32 * 48);
}
