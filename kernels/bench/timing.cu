#include "kernels/bench/timing.h"

#include <cuda_runtime.h>

#include <chrono>
#include <vector>

#include "kernels/bench/samples.h"
#include "kernels/device/gpu_launch.h"

namespace kvsim::kernels::bench {
namespace {

using gpu::check_cuda;

struct Nothing {};
__global__ void empty_kernel(const Nothing) {}

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { check_cuda(cudaEventRecord(event_, stream), "event"); }
  // Work queued on `stream` from here on waits for this one.
  void hold(cudaStream_t stream) { check_cuda(cudaStreamWaitEvent(stream, event_, 0), "event"); }
  // Microseconds from `start` to this one; waits for this one.
  double us_since(const Event& start) const {
    check_cuda(cudaEventSynchronize(event_), "kernel");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start.event_, event_), "event");
    return 1e3 * static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// What `queue` put into the stream, to be replayed. Relaxed capture: launches ask for attributes of
// their kernels in between.
class Replay {
 public:
  template <class Queue>
  Replay(cudaStream_t stream, const Queue& queue) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    cudaGraph_t graph = nullptr;
    try {
      queue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      static_cast<void>(cudaGetLastError());
      throw;
    }
    check_cuda(cudaStreamEndCapture(stream, &graph), "capture");
    const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda(status, "graph");
    check_cuda(cudaGraphUpload(graph_, stream), "graph");
  }
  ~Replay() { cudaGraphExecDestroy(graph_); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  void run() { check_cuda(cudaGraphLaunch(graph_, stream_), "graph"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

// Microseconds of each of `count` calls of `work`, queued back to back.
template <class Work>
std::vector<double> time_each(cudaStream_t stream, int count, const Work& work,
                              const std::function<void()>& busy) {
  std::vector<Event> events(static_cast<std::size_t>(count) + 1);
  events[0].record(stream);
  for (std::size_t i = 1; i < events.size(); ++i) {
    work();
    events[i].record(stream);
  }
  if (busy) busy();
  std::vector<double> out;
  for (std::size_t i = 1; i < events.size(); ++i) out.push_back(events[i].us_since(events[i - 1]));
  return out;
}

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

  Ceilings machine_ceilings() override {
    Ceilings out;
    out.launch_us = launch_us();
    out.graph_node_us = (graph_us(100) - graph_us(1)) / 99;
    copies(out);
    return out;
  }

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
  void launch_empty() { gpu::launch(empty_kernel, {1}, 32, 0, device_.stream(), {}); }

  // Each launch alone: the queue is empty when it is made.
  double launch_us() {
    std::vector<double> samples;
    for (int i = 0; i < 53; ++i) {
      const double us = time_each(stream_, 1, [&] { launch_empty(); }, {}).front();
      if (i >= 3) samples.push_back(us);
    }
    return times_of(std::move(samples)).median;
  }
  double graph_us(int nodes) {
    Replay replay(stream_, [&] {
      for (int i = 0; i < nodes; ++i) launch_empty();
    });
    time_each(stream_, 3, [&] { replay.run(); }, {});
    std::vector<double> samples;
    for (int i = 0; i < 30; ++i)
      samples.push_back(time_each(stream_, 1, [&] { replay.run(); }, {}).front());
    return times_of(std::move(samples)).median;
  }

  void copies(Ceilings& out) {
    constexpr std::size_t bytes = std::size_t{256} << 20, device_bytes = std::size_t{1} << 30;
    const Block host_a(device_, device_.allocate_pinned(bytes)),
        host_b(device_, device_.allocate_pinned(bytes)),
        card_a(device_, device_.allocate(device_bytes)),
        card_b(device_, device_.allocate(device_bytes));
    const auto copy = [&](const Block& to, const Block& from, std::size_t n, cudaStream_t stream) {
      check_cuda(cudaMemcpyAsync(to.memory, from.memory, n, cudaMemcpyDefault, stream), "copy");
    };
    const auto rate = [&](double moved, const auto& work) {
      time_each(stream_, 2, work, {});
      const Times t = times_of(time_each(stream_, 10, work, {}));
      return moved / t.median * 1e-3;
    };
    device_.fill(card_a.memory, 1, device_bytes);
    device_.fill(card_b.memory, 2, device_bytes);
    out.memcpy_gbs = rate(2.0 * device_bytes, [&] { copy(card_b, card_a, device_bytes, stream_); });
    out.h2d_gbs = rate(bytes, [&] { copy(card_a, host_a, bytes, stream_); });
    out.d2h_gbs = rate(bytes, [&] { copy(host_b, card_b, bytes, stream_); });

    // Both directions at once: the second stream starts and ends within the events of the first.
    cudaStream_t other = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "stream");
    Event fork, join;
    out.both_gbs = rate(2.0 * bytes, [&] {
      fork.record(stream_);
      fork.hold(other);
      copy(card_a, host_a, bytes, stream_);
      copy(host_b, card_b, bytes, other);
      join.record(other);
      join.hold(stream_);
    });
    device_.synchronize();
    cudaStreamDestroy(other);
  }

  struct Block {
    Block(Device& d, void* m) : device(d), memory(m) {}
    ~Block() { device.release(memory); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    Device& device;
    void* memory;
  };

  Device& device_;
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<Timing> make_gpu_timing(Device& device) {
  return std::make_unique<GpuTiming>(device);
}

}  // namespace kvsim::kernels::bench
