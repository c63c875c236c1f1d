#include "kernels/bench/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

namespace kvsim::kernels::bench {
namespace {

// NVML's C interface, as far as it is used; its constants are part of its ABI.
using Card = void*;
constexpr int success = 0;
constexpr int clock_sm = 1, clock_memory = 2, sensor_gpu = 0;

void widen(std::optional<unsigned>& low, std::optional<unsigned>& high, unsigned value) {
  low = std::min(low.value_or(value), value);
  high = std::max(high.value_or(value), value);
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  Card card = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*card_at)(const char*, Card*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*clock)(Card, int, unsigned*) = nullptr;
  int (*power)(Card, unsigned*) = nullptr;
  int (*temperature)(Card, int, unsigned*) = nullptr;
  int (*reasons)(Card, unsigned long long*) = nullptr;
  bool started = false;

  ~Library() {
    if (started) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }
  // "" or what went wrong.
  std::string open(const std::string& bus) {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return "libnvidia-ml.so.1 cannot be loaded";
    if (!find(init, "nvmlInit_v2") || !find(shutdown, "nvmlShutdown") ||
        !find(card_at, "nvmlDeviceGetHandleByPciBusId_v2"))
      return "libnvidia-ml.so.1 lacks functions";
    if (init() != success) return "NVML does not start";
    started = true;
    find(driver, "nvmlSystemGetDriverVersion");
    find(clock, "nvmlDeviceGetClockInfo");
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    if (!find(reasons, "nvmlDeviceGetCurrentClocksEventReasons"))
      find(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (card_at(bus.c_str(), &card) != success) return "NVML does not know the card at " + bus;
    return "";
  }
};

Nvml::Nvml(const std::string& pci_bus_id) : library_(std::make_unique<Library>()) {
  missing_ = library_->open(pci_bus_id);
}
Nvml::~Nvml() = default;

std::string Nvml::driver_version() const {
  char text[96] = "";
  if (!library_->started || library_->driver == nullptr ||
      library_->driver(text, sizeof text) != success)
    return "";
  return text;
}

void Nvml::sample() {
  if (!missing_.empty()) return;
  const Library& n = *library_;
  if (!clocks_) clocks_.emplace();
  Clocks& c = *clocks_;
  unsigned value = 0;
  if (n.clock != nullptr && n.clock(n.card, clock_sm, &value) == success)
    widen(c.sm_mhz_low, c.sm_mhz_high, value);
  if (n.clock != nullptr && n.clock(n.card, clock_memory, &value) == success)
    widen(c.mem_mhz_low, c.mem_mhz_high, value);
  if (n.power != nullptr && n.power(n.card, &value) == success)
    c.power_w = std::max(c.power_w.value_or(0), 1e-3 * value);
  if (n.temperature != nullptr && n.temperature(n.card, sensor_gpu, &value) == success)
    c.temp_c = std::max(c.temp_c.value_or(0), value);
  unsigned long long bits = 0;
  if (n.reasons != nullptr && n.reasons(n.card, &bits) == success) c.throttle |= bits;
}

std::optional<Clocks> Nvml::take() { return std::exchange(clocks_, std::nullopt); }

}  // namespace kvsim::kernels::bench
