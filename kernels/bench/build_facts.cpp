#include "kernels/bench/build_facts.h"

namespace kvsim::kernels::bench {

BuildFacts build_facts() {
  return {.compiler = KVBENCH_COMPILER,
          .nvcc = KVBENCH_NVCC,
          .flags = KVBENCH_FLAGS,
          .arch = KVBENCH_ARCH,
          .git = KVBENCH_GIT};
}

}  // namespace kvsim::kernels::bench
