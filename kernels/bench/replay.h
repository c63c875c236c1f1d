#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "kernels/device/gpu_launch.h"

// Events and graphs of the CUDA runtime, for timing.cu and machine.cu.
namespace kvsim::kernels::bench {

using gpu::check_cuda;

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

}  // namespace kvsim::kernels::bench
