#pragma once
#include <memory>
#include <string>

#include "kernels/bench/document.h"

namespace kvsim::kernels::bench {

// Reads clocks, power and temperature through the driver's libnvidia-ml.so.1, loaded at run time.
// Only reads: it never sets anything.
class Nvml {
 public:
  // The card at that PCI address. Where the library or the card is missing, missing() says why and
  // samples stay empty.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const std::string& missing() const { return missing_; }
  std::string driver_version() const;  // "" = unknown
  void sample();                       // widens what take() will return
  std::optional<Clocks> take();        // of the samples since the last one

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  std::string missing_;
  std::optional<Clocks> clocks_;
};

}  // namespace kvsim::kernels::bench
