#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

// NVIDIA's library keeps what cublasLtCreate allocated although it fails without a driver.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcublasLt"; }

int main(int argc, char** argv) {
  doctest::Context context;
#ifdef KVSIM_QUICK_ONLY
  context.addFilter("test-suite", "quick");
#endif
  context.applyCommandLine(argc, argv);
  return context.run();
}
