#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/engine_log.h"
#include "planner/request.h"

// A start-up log held against the prediction for the same deployment: which term of the memory
// explains the difference.
namespace kvsim::planner {

enum class Unit { bytes, tokens, count, ratio };

struct LogTerm {
  launch::Term term;
  Unit unit = Unit::bytes;
  double printed = 0, predicted = 0;
  int line = 0;        // of the log; 0 = computed from other figures of it
  std::string worker;  // which printed it; "" = the only one
  std::string note;    // how it was computed, "" for a figure as printed
  // What would be predicted if this term alone were as printed; nothing for results and for terms
  // that the prediction does not have.
  std::optional<double> with_it;
};

struct LogAttribution {
  std::vector<LogTerm> terms;
  // What is compared: KV tokens, or KV memory when the log prints no tokens; nothing when neither.
  std::optional<launch::Term> target;
  double printed = 0, predicted = 0;
  std::optional<double> with_all;  // every printed term of the budget at once
  // The term whose replacement comes closest, and what then remains of the difference.
  std::optional<launch::Term> explanation;
  double explained = 0;  // the prediction with it
  std::string verdict;   // one sentence
};

// Sizes the pool once as predicted and once per printed term. `asked` is the deployment, as the log
// and the line give it. Throws as make_plan does.
LogAttribution attribute(const Request& asked, const launch::EngineLog& log);

}  // namespace kvsim::planner
