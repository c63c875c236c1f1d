#include "kernels/bench/timing.h"

#include <chrono>
#include <vector>

#include "kernels/bench/machine.h"
#include "kernels/bench/replay.h"
#include "kernels/bench/samples.h"

namespace kvsim::kernels::bench {
namespace {

class GpuTiming final : public Timing {
 public:
  explicit GpuTiming(Device& device)
      : device_(device), stream_(static_cast<cudaStream_t>(device.stream().handle)) {}

  Measured measure(const LaunchSet& launch, int sets, const std::function<void()>& busy) override {
    warm_up(launch, sets);
    const double one = time_each(stream_, 1, [&] { launch(0); }, {}).front();
    const ReplayPlan plan = plan_replay(one, sets);
    const auto queue = [&] {
      for (int i = 0; i < plan.launches; ++i) launch(i % sets);
    };
    Measured out;
    if (!plan.covers_sets) out.note = "a replay does not go through every set";
    std::unique_ptr<Replay> replay;
    try {
      replay = std::make_unique<Replay>(stream_, queue);
    } catch (const LaunchError& error) {
      out.note = std::string("timed without a graph: ") + error.what();
    }
    const auto work = [&] { replay ? replay->run() : queue(); };
    const double first = time_each(stream_, 1, work, {}).front();
    std::vector<double> samples = time_each(stream_, plan_samples(first), work, busy);
    for (double& s : samples) s /= plan.launches;
    out.times = times_of(std::move(samples));
    return out;
  }

  Ceilings machine_ceilings() override { return bench::machine_ceilings(device_); }

  double free_bytes() override {
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "free memory");
    return static_cast<double>(free);
  }
  std::string pci_bus_id() override {
    char id[32] = "";
    check_cuda(cudaDeviceGetPCIBusId(id, sizeof id, 0), "bus id");
    return id;
  }
  // Two transfers per clock and pin, as the device reports its memory; absent where it does not.
  std::optional<double> datasheet_gbs() override {
    int khz = 0, bits = 0;
    check_cuda(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0), "memory clock");
    check_cuda(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0), "memory bus");
    if (khz <= 0 || bits <= 0) return std::nullopt;
    return 2.0 * khz * 1e3 * bits / 8 * 1e-9;
  }

 private:
  void warm_up(const LaunchSet& launch, int sets) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 3; ++i) {
      launch(i % sets);
      device_.synchronize();
      if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(100)) return;
    }
  }

  Device& device_;
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<Timing> make_gpu_timing(Device& device) {
  return std::make_unique<GpuTiming>(device);
}

}  // namespace kvsim::kernels::bench
