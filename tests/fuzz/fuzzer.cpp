#include <cstddef>
#include <cstdint>

#include "fuzz/targets.h"

// One libFuzzer program per target: KVSIM_FUZZ_TARGET is its place in the table.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto& target = kvsim::fuzz::targets()[KVSIM_FUZZ_TARGET];
  kvsim::fuzz::run(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}
