#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace kvsim::conform {

// Where kvsim first does something else than the engine did.
struct Difference {
  std::string family, case_id;
  std::int64_t at = 0;        // number of the step or operation, from 1; 0 = the case was refused
  std::string field;          // its name there; of a refused case the setting
  std::string expected, got;  // JSON
  std::string reason;         // why the case was refused; "" = it was replayed
};

// What became of one case.
struct Outcome {
  std::string id;
  std::optional<Difference> difference;  // none: everything recorded matched
};

}  // namespace kvsim::conform
