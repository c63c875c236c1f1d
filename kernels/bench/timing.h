#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels/bench/document.h"

namespace kvsim::kernels::bench {

// Queues one run over a set of buffers.
using LaunchSet = std::function<void(int set)>;

struct Measured {
  Times times;
  std::string note;  // "" or how the measurement departed from the protocol
};

// Takes times on one device. Errors of the backend: LaunchError.
class Timing {
 public:
  virtual ~Timing() = default;
  // Time of one run, over `sets` buffer sets in turn: three runs to warm up, then a graph of as
  // many runs as samples.h says, replayed back to back between events. `busy` is called while the
  // card works on them.
  virtual Measured measure(const LaunchSet& launch, int sets,
                           const std::function<void()>& busy) = 0;
  // What needs no kernel of the families: copies by the driver, both directions of the link, an
  // empty launch, a node of a graph.
  virtual Ceilings machine_ceilings() = 0;
  virtual double free_bytes() = 0;
  virtual std::string pci_bus_id() = 0;
  virtual std::optional<double> datasheet_gbs() = 0;
};

// Null in a program without CUDA.
std::unique_ptr<Timing> make_gpu_timing(Device& device);

}  // namespace kvsim::kernels::bench
