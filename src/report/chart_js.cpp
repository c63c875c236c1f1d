#include "report/chart_js.h"

#ifdef KVSIM_CHART_JS
// The assembler copies the file in: a string literal of 200 kB is beyond what compilers promise.
asm(".section .rodata\n"
    ".global kvsim_chart_js\n"
    "kvsim_chart_js:\n"
    ".incbin \"" KVSIM_CHART_JS
    "\"\n"
    ".global kvsim_chart_js_end\n"
    "kvsim_chart_js_end:\n"
    ".byte 0\n"
    ".text\n");
extern "C" const char kvsim_chart_js[];
extern "C" const char kvsim_chart_js_end[];
#endif

namespace kvsim::report {

std::string_view chart_js() {
#ifdef KVSIM_CHART_JS
  return {kvsim_chart_js, static_cast<std::size_t>(kvsim_chart_js_end - kvsim_chart_js)};
#else
  return {};
#endif
}

}  // namespace kvsim::report
