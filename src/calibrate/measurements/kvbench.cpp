#include "calibrate/measurements/kvbench.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "calibrate/measurements/kvbench_shape.h"
#include "config/reader.h"

namespace kvsim::calibrate {
namespace {

using config::Value;

// What a call may take: from a picosecond to a quarter of an hour.
constexpr double shortest_us = 1e-6, longest_us = 1e9;

bool is_flag(Value v) { return v.kind() == config::Kind::boolean; }
bool is_object(Value v) { return v.is_object(); }
bool is_list(Value v) { return v.is_array(); }
bool is_object_or_null(Value v) { return v.is_object() || v.is_null(); }

constexpr std::string_view executor = "cpu-simt";

// The median in microseconds, or nothing and why.
std::optional<double> time_of(Value result, std::string_view device, std::string& why,
                              Diagnostics& diagnostics) {
  const Value status = member(result, "status", is_text, "a word", diagnostics);
  const Value time = member(result, "time_us", is_object_or_null, "an object or null", diagnostics);
  if (!status.exists() || !time.exists()) return std::nullopt;
  if (status.string() != "ok") return why = "status " + status.string(), std::nullopt;
  if (time.is_null() || (time.find("median").exists() && time.find("median").is_null()))
    return why = "no time was taken", std::nullopt;
  const Value median = member(time, "median", is_amount, "a time in microseconds", diagnostics);
  if (!median.exists()) return std::nullopt;
  if (device == executor) return why = "a CPU's time says nothing of a GPU", std::nullopt;
  if (median.number() >= shortest_us && median.number() <= longest_us) return median.number();
  diagnostics.add(
      median.diagnostic("out-of-range", fmt::format("median must be from {} to {} us, found {}",
                                                    shortest_us, longest_us, median.describe())));
  return std::nullopt;
}

bool is_baseline(Value result, Diagnostics& diagnostics) {
  if (!result.find("baseline").exists()) return false;
  const Value v = member(result, "baseline", is_flag, "true or false", diagnostics);
  return v.exists() && v.boolean();
}

// A case with what it takes to compare it with other variants.
struct Case {
  BenchRow row;
  BenchCase work;
  std::string kernel, problem;  // kernel, types and shape
  bool is_operator = false;
};

Case read_case(Value result, std::string_view device, Diagnostics& diagnostics) {
  Case c;
  const std::string origin = result.origin();
  c.row.place = origin.substr(0, origin.rfind(':'));
  Measurement& m = c.row.measurement;
  m.framework = kvbench_framework;
  if (const Value v = member(result, "kernel", is_text, "a name", diagnostics); v.exists())
    c.kernel = v.string();
  if (const Value v = result.find("variant"); v.exists() && v.is_string()) m.backend = v.string();
  for (const auto& [name, amount] :
       {std::pair("bytes", &c.work.bytes), std::pair("flops", &c.work.flops)})
    if (const Value v = member(result, name, is_amount, "a number from 0", diagnostics); v.exists())
      *amount = v.number();
  if (result.find("rotating_sets").exists())
    if (const Value v = member(result, "rotating_sets", is_amount, "a number from 0", diagnostics);
        v.exists() && v.number() > 1)
      m.buffers = cost::Buffers::cold;
  m.figures = {{c.kernel, 0}};
  const std::optional<double> us = time_of(result, device, m.unmeasured, diagnostics);
  if (is_baseline(result, diagnostics) && us)
    m.unmeasured = "a naive version, there to be compared with";
  if (us && c.work.bytes == 0 && c.work.flops == 0)
    m.unmeasured = "it states neither bytes nor operations";
  if (!us || !m.unmeasured.empty() || c.kernel.empty()) return c;
  c.is_operator = read_shape(c.kernel, result, m, diagnostics);
  if (!c.is_operator) {
    read_stated(c.kernel, result, c.work, m);
  } else {
    c.problem = c.kernel;
    for (const char* part : {"dtype", "shape"})
      if (const Value v = result.find(part); v.exists()) c.problem += v.json();
  }
  m.figures.front().value = *us * 1e-6;
  return c;
}

// An operator's time is that of the fastest variant of each problem. The others are kernels of
// their own, which state what they move.
void keep_fastest(std::vector<Case>& cases) {
  std::map<std::string_view, Case*> fastest;
  const auto measured = [](const Case& c) {
    return c.is_operator && c.row.measurement.unmeasured.empty();
  };
  const auto seconds = [](const Case& c) { return c.row.measurement.figures.front().value; };
  for (Case& c : cases)
    if (measured(c)) {
      Case*& best = fastest.try_emplace(c.problem, &c).first->second;
      if (seconds(c) < seconds(*best)) best = &c;
    }
  for (Case& c : cases) {
    if (!measured(c)) continue;
    Measurement& m = c.row.measurement;
    if (fastest.at(c.problem) == &c)
      m.backend = "fastest";
    else
      make_stated(c.kernel, c.work, m);
  }
}

}  // namespace

std::vector<BenchRow> read_kvbench(const config::Document& document) {
  Diagnostics diagnostics;
  const Value root = document.root();
  if (!root.is_object())
    throw InputError(root.diagnostic("wrong-type",
                                     fmt::format("expected an object, found {}", root.describe())));
  config::check_schema(root, kvbench_schema, diagnostics);
  diagnostics.throw_if_errors();
  std::string gpu, version;
  // The start of a commit; anything else is no version.
  if (const Value git = root.find("git"); git.exists() && git.is_string())
    for (const char c : git.string()) {
      if (version.size() == 12 || !std::isxdigit(static_cast<unsigned char>(c))) break;
      version += c;
    }
  if (const Value device = member(root, "device", is_object, "an object", diagnostics);
      device.exists())
    if (const Value name = member(device, "name", is_text, "a name", diagnostics); name.exists())
      gpu = name.string();
  std::vector<Case> cases;
  if (const Value results = member(root, "results", is_list, "a list", diagnostics);
      results.exists())
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value result = results.at(i);
      if (!result.is_object()) {
        diagnostics.add(result.diagnostic(
            "wrong-type", fmt::format("expected an object, found {}", result.describe())));
        continue;
      }
      cases.push_back(read_case(result, gpu, diagnostics));
      cases.back().row.measurement.gpu = gpu;
      cases.back().row.measurement.version = version;
    }
  diagnostics.throw_if_errors();
  keep_fastest(cases);
  std::vector<BenchRow> out;
  for (Case& c : cases) out.push_back(std::move(c.row));
  return out;
}

}  // namespace kvsim::calibrate
