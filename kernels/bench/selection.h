#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/bench/options.h"

// Which cases a run takes.
namespace kvsim::kernels::bench {

// Cases whose id holds the filter, and all cases of the family of that name.
class Selection {
 public:
  explicit Selection(std::string filter);
  bool has(const std::string& id) const {
    return id.find(filter_) != id.npos || family_ids_.count(id) != 0;
  }

 private:
  std::string filter_;
  std::set<std::string> family_ids_;
};

// Kind (quick, edge, bench) and id of every variant of every case that the run goes through before
// the filter: all of them for the list, no timed ones where no times are taken.
using ListedCases = std::vector<std::pair<std::string, std::string>>;
ListedCases cases_of_run(const Options& options);

// Throws UsageError with the nearest ids where the filter leaves nothing of the run.
void expect_some_case(const Options& options);

}  // namespace kvsim::kernels::bench
