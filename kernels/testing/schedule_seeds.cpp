#include <doctest/doctest.h>

#include <charconv>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string_view>

#include "kernels/numbers/noise.h"
#include "kernels/testing/run_cases.h"

namespace kvsim::kernels::testing {
namespace {

std::uint64_t root_seed() {
  const char* named = std::getenv("KVSIM_SEED");
  if (named == nullptr) return std::random_device()();
  const std::string_view text = named;
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("KVSIM_SEED: expected a number, found \"" + std::string(text) +
                                "\"");
  return out;
}

}  // namespace

const std::vector<std::uint64_t>& schedule_seeds() {
  static const std::uint64_t root = root_seed();
  static const std::vector<std::uint64_t> seeds{0, noise_bits(root, 1), noise_bits(root, 2),
                                                noise_bits(root, 3)};
  MESSAGE("schedules of KVSIM_SEED=" << root);
  return seeds;
}

}  // namespace kvsim::kernels::testing
