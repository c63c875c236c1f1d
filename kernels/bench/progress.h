#pragma once
#include <chrono>
#include <string>

namespace kvsim::kernels::bench {

// After SIGINT or SIGTERM the current case is finished and nothing new is started; a second one
// ends the process at once.
void catch_interrupts();
bool interrupted();

// Counts from its making. One within another is over when the outer one is.
class Deadline {
 public:
  explicit Deadline(double seconds, const Deadline* outer = nullptr)
      : start_(std::chrono::steady_clock::now()), seconds_(seconds), outer_(outer) {}
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double left_s() const { return seconds_ - elapsed_s(); }
  bool over() const {
    return !stopped_.empty() || interrupted() || left_s() <= 0 ||
           (outer_ != nullptr && outer_->over());
  }
  void stop(const std::string& reason) { stopped_ = reason; }  // over from now on
  std::string reason() const {
    if (!stopped_.empty()) return stopped_;
    if (outer_ != nullptr && outer_->over()) return outer_->reason();
    return interrupted() ? "interrupted" : "the time was up";
  }
  // Of what was not reached, in a word or two.
  std::string cause() const {
    if (!stopped_.empty()) return stopped_;
    if (outer_ != nullptr && !outer_->stopped_.empty()) return outer_->stopped_;
    return interrupted() ? "interrupted" : "budget";
  }

 private:
  std::chrono::steady_clock::time_point start_;
  double seconds_;
  const Deadline* outer_;
  std::string stopped_;
};

// A line on stderr.
void say(const std::string& line);

}  // namespace kvsim::kernels::bench
