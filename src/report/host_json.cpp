#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "config/echo.h"
#include "report/calibration.h"

namespace kvsim::report {
namespace {

using Json = nlohmann::ordered_json;

// Microseconds and factors carry four figures; the runs say no more.
double rounded(double x) { return std::strtod(fmt::format("{:.4g}", x).c_str(), nullptr); }

}  // namespace

std::string host_json(const cost::HostFile& file) {
  cost::HostFile copy = file;
  for (cost::HostEntry& e : copy.entries)
    for (double* x :
         {&e.profile.decode_scale, &e.profile.prefill_scale, &e.profile.step_us,
          &e.profile.sequence_us, &e.profile.prefill_us, &e.profile.request_us, &e.layers})
      *x = rounded(*x);
  const Json json = Json::parse(config::echo_json(copy, cost::host_schema));
  std::string out = "{\n";
  for (const auto& [key, value] : json.items()) {
    if (key == "entries") continue;
    out += "  \"" + key + "\": " + value.dump() + ",\n";
  }
  out += "  \"entries\": [\n";
  for (std::size_t i = 0; i < json["entries"].size(); ++i)
    out += "    " + json["entries"][i].dump() + (i + 1 < json["entries"].size() ? ",\n" : "\n");
  return out + "  ]\n}\n";
}

}  // namespace kvsim::report
