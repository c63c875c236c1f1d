#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argc, char** argv) {
  doctest::Context context;
#ifdef KVSIM_QUICK_ONLY
  context.addFilter("test-suite", "quick");
#endif
  context.applyCommandLine(argc, argv);
  return context.run();
}
