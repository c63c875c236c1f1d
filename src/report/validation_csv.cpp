#include <fmt/format.h>

#include "report/validation.h"

namespace kvsim::report {
namespace {

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

std::string validation_csv(const calibrate::Validation& validation) {
  std::string out = "kernel,gpu,framework,dtype,kv_dtype,regime,row,measured,predicted,ratio\n";
  for (const calibrate::Point& p : validation.points) {
    const calibrate::GroupErrors& g = validation.groups[p.group];
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", cell(g.kernel), cell(g.gpu),
                       cell(g.framework), cell(g.dtype), cell(g.kv_dtype), cell(g.regime),
                       cell(p.place), p.measured, p.predicted, p.predicted / p.measured);
  }
  return out;
}

}  // namespace kvsim::report
