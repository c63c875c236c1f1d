#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/output_file.h"
#include "units/units.h"

namespace kvsim::report {

// Writes the step log: one JSON line per engine step, ordered by (time, engine).
//
// Per step: begin(), any number of scheduled(), hit(), preempted(), finished(), for engines that
// have them radix(), host_used(), loaded(), loaded_only(), then end(). Steps come in order of time;
// those of equal time in any order. commit() makes the file appear. Costs about as much as copying
// the ids; allocates only while buffers grow.
class StepLog {
 public:
  // "-" is standard output. Throws IoError.
  explicit StepLog(const std::string& path) : file_(path) {}

  void begin(std::int64_t step, Time start, int engine);
  void scheduled(std::string_view id, std::int64_t tokens) { entry(scheduled_, id, tokens); }
  void hit(std::string_view id, std::int64_t tokens) { entry(hits_, id, tokens); }
  void preempted(std::string_view id) { name(preempted_, id); }
  void finished(std::string_view id) { name(finished_, id); }
  // Tokens, and the share of the longest outputs that admission reserves from now on.
  void radix(std::string_view mode, std::int64_t available, std::int64_t evictable,
             std::int64_t locked, double new_token_ratio);
  void host_used(std::int64_t tokens);
  void loaded(std::string_view id, std::int64_t tokens) { entry(loaded_, id, tokens); }
  void loaded_only(std::string_view id, std::int64_t tokens) { entry(loaded_only_, id, tokens); }
  void end(std::int64_t running, std::int64_t waiting, std::int64_t free_blocks);
  void commit();

 private:
  struct Line {
    int engine = 0;
    std::string text;
  };
  static void entry(std::string& out, std::string_view id, std::int64_t tokens);
  static void name(std::string& out, std::string_view id);
  void flush_instant();

  config::OutputFile file_;
  std::int64_t step_ = 0;
  Time start_;
  int engine_ = 0;
  std::string scheduled_, hits_, preempted_, finished_;
  std::string radix_, loaded_, loaded_only_;  // the optional parts of a line
  std::vector<Line> instant_;                 // the steps that start at start_
  std::size_t lines_ = 0;                     // of these in use
  std::string buffer_;
};

// Seconds with as many decimals as the time has, at least one: "0.0", "1.25".
void append_seconds(std::string& out, Time time);
// `text` as a JSON string.
void append_json_string(std::string& out, std::string_view text);

}  // namespace kvsim::report
