#pragma once
#include <chrono>
#include <string>

#include "cli/context.h"

namespace kvsim::cli {

// "run  42 %  ETA 12 s" on stderr, for work of more than two seconds, only on a terminal and
// neither under --json nor under --quiet. The line is removed at the end. update() is cheap: it
// looks at the clock, and writes at most ten times a second.
class Progress {
 public:
  Progress(const Context& context, std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction_done);
  // For work of unknown length: "trace  1,204,000 requests".
  void update(std::string_view so_far);

 private:
  using Clock = std::chrono::steady_clock;
  bool is_due();
  void show(const std::string& text);
  std::string label_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point start_, next_;
};

}  // namespace kvsim::cli
