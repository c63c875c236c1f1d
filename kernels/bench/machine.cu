#include "kernels/bench/machine.h"

#include "kernels/bench/replay.h"
#include "kernels/bench/samples.h"

namespace kvsim::kernels::bench {
namespace {

struct Nothing {};
__global__ void empty_kernel(const Nothing) {}

class Machine {
 public:
  explicit Machine(Device& device)
      : device_(device), stream_(static_cast<cudaStream_t>(device.stream().handle)) {}

  Ceilings ceilings() {
    Ceilings out;
    out.launch_us = launch_us();
    out.graph_node_us = (graph_us(100) - graph_us(1)) / 99;
    copies(out);
    return out;
  }

 private:
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

Ceilings machine_ceilings(Device& device) { return Machine(device).ceilings(); }

}  // namespace kvsim::kernels::bench
