#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/result.h"

namespace kvsim::report {

// What a step log says of one request in one step.
struct StepMention {
  std::int64_t step = 0;
  Time start;
  int engine = 0;
  std::int64_t scheduled = 0;  // tokens; 0 = not in the step
  std::int64_t hit = 0;        // prefix tokens found at admission
  bool preempted = false, finished = false;
};

// Reads the lines of a step log that name the request. Throws IoError, InputError.
std::vector<StepMention> load_mentions(const std::string& path, const std::string& id);

// One request's life as lines of text: arrival, wait, prefix hits, prefill chunks, preemptions,
// first and last token. `mentions` may be empty: then without chunks and preemption times.
std::string timeline(const metrics::RequestRow& request, const std::vector<StepMention>& mentions);

}  // namespace kvsim::report
