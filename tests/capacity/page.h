#pragma once
#include <string>
#include <vector>

#include "capacity/reports.h"

namespace kvsim::testing {

struct Row {
  std::string id, what, rules, why;
  double printed = 0, predicted = 0, plain = 0;  // tokens (terms: GiB)
  bool exact = false;                            // within what the printed GiB allows
  double error() const { return predicted / printed - 1; }
};

// Every report that can be checked, by what is known of it.
struct Results {
  std::vector<Row> given, predicted, terms, none;
};
Results check_all(const Reports& reports);

double median_error(const std::vector<Row>& rows, bool plain = false);
double share_within(const std::vector<Row>& rows, double limit, bool plain = false);

// docs/explanation/capacity-validation.md
std::string page(const Results& results);

}  // namespace kvsim::testing
