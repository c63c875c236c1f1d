#pragma once
#include <string>

#include "config/document.h"
#include "cost/operators/operator_fit.h"

// kvsim.cost/1 as text: reading with every check that evaluation relies on, and writing.
namespace kvsim::cost {

// What becomes of operators that do not match the forms of this build: of a file that was given
// they are errors; of the catalog, whose files follow the forms' sources, they are left out until
// kvsim_update_cost has run (a test tells).
enum class Mismatched { refused, left_out };

// Throws InputError with everything that is wrong, each with its pointer: unknown forms, parameters
// that are not the form's or outside its bounds, tables, ranges or quantiles of the wrong size.
CostFile read_cost(const config::Document& document, Mismatched mismatched = Mismatched::refused);

// One line per header field and per field of an operator; parameters as they are, other numbers
// rounded to six significant digits (covariances and tables to four): a file that people can read
// and diffs can show.
std::string cost_json(const CostFile& file);

}  // namespace kvsim::cost
