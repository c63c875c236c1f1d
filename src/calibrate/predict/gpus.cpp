#include "calibrate/predict/gpus.h"

#include "diag/diagnostic.h"

namespace kvsim::calibrate {
namespace {

// Spellings of devices and test beds that are no catalog entries of their own.
std::string canonical(const std::string& spelling) {
  if (spelling == "a100_pairwise" || spelling == "a100-pairwise") return "a100-sxm-80g";
  if (spelling.starts_with("NVIDIA ")) return spelling.substr(7);
  return spelling;
}

}  // namespace

const spec::GpuSpec* Gpus::find(const std::string& spelling) {
  const auto [at, fresh] = found_.try_emplace(spelling);
  if (fresh) {
    for (const std::string& name : {spelling, canonical(spelling)}) {
      try {
        at->second = catalog_.gpu(name);
        break;
      } catch (const InputError&) {
        // The next spelling may be known; a GPU that is not is a reason of its rows.
      }
    }
  }
  return at->second ? &*at->second : nullptr;
}

std::string Gpus::id(const std::string& spelling) {
  if (spelling == "a100_pairwise" || spelling == "a100-pairwise") return "a100-pairwise";
  const spec::GpuSpec* found = find(spelling);
  return found ? found->id : spelling;
}

}  // namespace kvsim::calibrate
