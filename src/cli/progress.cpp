#include "cli/progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "units/format.h"

namespace kvsim::cli {

Progress::Progress(const Context& context, std::string label)
    : label_(std::move(label)),
      enabled_(context.terminal().stderr_is_terminal && !context.json() &&
               !context.globals().quiet),
      start_(Clock::now()),
      next_(start_ + std::chrono::seconds(2)) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

bool Progress::is_due() {
  if (!enabled_) return false;
  const auto now = Clock::now();
  if (now < next_) return false;
  next_ = now + std::chrono::milliseconds(100);
  return true;
}

void Progress::show(const std::string& text) {
  shown_ = true;
  std::fputs(fmt::format("\r\033[K{}  {}", label_, text).c_str(), stderr);
  std::fflush(stderr);
}

void Progress::update(double fraction_done) {
  if (!is_due()) return;
  const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
  std::string eta;
  if (fraction_done > 0.001)
    eta = fmt::format("  ETA {:.0f} s", spent * (1 - fraction_done) / fraction_done);
  show(fmt::format("{:3.0f} %{}", 100 * fraction_done, eta));
}

void Progress::update(std::string_view so_far) {
  if (is_due()) show(std::string(so_far));
}

}  // namespace kvsim::cli
