// planted_races NAME planted|corrected [SEED]: runs one kernel of races.cuh. Built with a
// sanitizer, which must report the planted one and be silent about its twin.
#include "kernels/simt/planted/races.cuh"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "kernels/host/array.h"
#include "kernels/simt/fault.h"

namespace {

using namespace kvsim::kernels;

struct Race {
  std::string_view name;
  void (*planted)(RaceArgs);
  void (*corrected)(RaceArgs);
  unsigned blocks, threads, shared_bytes;
};

#define RACE(kernel, blocks, threads, bytes) \
  { #kernel, cpu::kernel < Twin::planted>, cpu::kernel < Twin::corrected>, blocks, threads, bytes }

constexpr Race races[] = {
    RACE(shared_merge, 1, 128, 16),    RACE(copy_to_ldmatrix, 1, 32, 512),
    RACE(ring_reuse, 1, 128, 2048),    RACE(shared_row, 2, 64, 0),
    RACE(last_block_merge, 2, 64, 16), RACE(bulk_without_wait, 1, 32, 1040),
    RACE(bulk_refill, 1, 32, 1040),    RACE(shared_overrun, 1, 32, 128),
    RACE(global_overrun, 1, 512, 0),
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  for (const Race& race : races) {
    if (race.name != argv[1]) continue;
    const auto device = make_cpu_device({.schedule_seed = seed});
    Array<float> in(*device, std::vector<float>(512, 1.0F)), partial(*device, 1024);
    Array<float> out(*device, 512);
    Array<unsigned> counter(*device, std::vector<unsigned>{0});
    const auto kernel = argv[2] == std::string_view("planted") ? race.planted : race.corrected;
    try {
      cpu::launch(kernel, {race.blocks}, race.threads, race.shared_bytes, device->stream(),
                  {in.view(), partial.view(), out.view(), counter.view()});
    } catch (const kvsim::simt::Fault& fault) {
      std::fprintf(stderr, "%s\n", fault.what());
      return 3;
    }
    std::printf("out[0] %g\n", static_cast<double>(out.download(0, 1)[0]));
    return 0;
  }
  std::fprintf(stderr, "no kernel %s\n", argv[1]);
  return 2;
}
