#pragma once
#include <optional>
#include <string>

#include "metrics/result.h"

namespace kvsim::report {

// A result from a file: a kvsim.run/1 document, or the lines of `run --requests-out`, which give a
// result with requests alone. "-" is standard input. Throws IoError and InputError.
struct Loaded {
  metrics::RunResult result;
  bool requests_only = false;
};
Loaded load_result(const std::string& path);

// One request of such a file. Throws InputError when the file knows no request of that id.
metrics::RequestRow load_request(const std::string& path, const std::string& id);

}  // namespace kvsim::report
