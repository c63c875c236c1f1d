#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/figures.h"

namespace kvsim::compare {

// How far a figure may move the wrong way, as a fraction of the base value.
struct Tolerances {
  double fallback = 0.005;
  std::vector<std::pair<std::string, double>> by_name;  // path, short name, or family ("ttft_ms")

  double of(std::string_view path) const;
  // Whether one was given for exactly this figure.
  bool names(std::string_view path) const;
};

// Reads "p99_ttft_ms=2%,kv.preemptions=0,default=0.5%" into `out`, on top of what is there. Answers
// what is wrong, or "".
std::string parse_tolerances(std::string_view text, Tolerances& out);

enum class Change { same, improved, regressed, drifted, only_base, only_new };
inline constexpr std::string_view change_words[] = {"ok",      "improved",     "REGRESSION",
                                                    "drifted", "only in base", "only in new"};

struct Difference {
  std::string path;
  std::optional<double> base, now;
  double relative = 0;  // (now - base) / |base|; infinite when base is 0 and now is not
  double limit = 0;
  Change change = Change::same;
};

struct Comparison {
  std::string base_digest, new_digest;  // of the scenarios; empty for a vLLM-bench document
  std::string base_behaviour, new_behaviour;
  std::vector<std::string> scenario_differences;  // "workload.rate: 2 -> 3", the first 20
  bool complete = true;                           // both runs ended by themselves
  std::vector<Difference> differences;            // every compared figure, in the base's order

  int count(Change change) const;
  bool same_scenario() const { return base_digest == new_digest; }
};

struct Options {
  Tolerances tolerances;
  std::vector<std::string> ignore;  // paths or short names, with all that is below them
};

// Compares summary, kv and cost. A figure moved the wrong way by more than its tolerance is a
// regression, the right way an improvement; figures that describe the load (input tokens, offered
// rate) only drift. Ends of intervals move with what is known of the cost model, so that they are
// compared only where a tolerance names them. Against a vLLM-bench document only common figures are
// compared. Throws InputError when a document is no result.
Comparison compare(const config::Document& base, const config::Document& now,
                   const Options& options);

// Renderings. Each ends in a newline; the text is under 100 columns with its verdict last.
std::string to_text(const Comparison& comparison);
std::string to_markdown(const Comparison& comparison);
std::string to_json(const Comparison& comparison);  // kvsim.compare/1
// One workflow command per regression: GitHub shows them beside the change.
std::string to_github(const Comparison& comparison);

}  // namespace kvsim::compare
