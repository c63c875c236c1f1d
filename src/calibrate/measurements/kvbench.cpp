#include "calibrate/measurements/kvbench.h"

#include <fmt/format.h>

#include "config/reader.h"

namespace kvsim::calibrate {
namespace {

using config::Kind;
using config::Value;

// The member of that name and kind, or an invalid value and a diagnostic.
Value member(Value object, std::string_view name, bool right_kind(Value), std::string_view wanted,
             Diagnostics& diagnostics) {
  const Value v = object.find(name);
  if (!v.exists()) {
    diagnostics.add(
        object.diagnostic("missing-field", fmt::format("required field \"{}\" is missing", name)));
    return {};
  }
  if (right_kind(v)) return v;
  diagnostics.add(v.diagnostic(
      "wrong-type", fmt::format("{}: expected {}, found {}", name, wanted, v.describe())));
  return {};
}
bool is_text(Value v) { return v.is_string() && !v.string().empty(); }
bool is_object(Value v) { return v.is_object(); }
bool is_list(Value v) { return v.is_array(); }
bool is_amount(Value v) {
  return (v.kind() == Kind::integer || v.kind() == Kind::number) && v.number() >= 0;
}
bool is_object_or_null(Value v) { return v.is_object() || v.is_null(); }

// The KV type where the case names one, else whatever single type it names.
std::string dtype_of(Value result) {
  const Value dtype = result.find("dtype");
  if (!dtype.exists()) return "";
  if (dtype.is_string()) return dtype.string();
  if (!dtype.is_object()) return "";
  for (const char* name : {"kv", "q"})
    if (const Value v = dtype.find(name); v.exists() && v.is_string()) return v.string();
  return "";
}

Measurement read_case(Value result, Diagnostics& diagnostics) {
  Measurement m;
  if (const Value v = member(result, "kernel", is_text, "a name", diagnostics); v.exists())
    m.figures = {{v.string(), 0}};
  if (const Value v = result.find("variant"); v.exists() && v.is_string()) m.backend = v.string();
  m.dtype = dtype_of(result);
  BenchCase shape;
  if (const Value v = member(result, "bytes", is_amount, "a number of bytes", diagnostics);
      v.exists())
    shape.bytes = v.number();
  if (const Value v = member(result, "flops", is_amount, "a number of operations", diagnostics);
      v.exists())
    shape.flops = v.number();
  if (const Value v = result.find("rotating_sets"); v.exists() && is_amount(v))
    shape.rotating = v.number() > 1;
  m.shape = shape;
  const Value status = member(result, "status", is_text, "a word", diagnostics);
  const Value time = member(result, "time_us", is_object_or_null, "an object or null", diagnostics);
  if (!status.exists() || !time.exists() || m.figures.empty()) return m;
  if (status.string() != "ok") {
    m.unmeasured = "status " + status.string();
  } else if (time.is_null() || (time.find("median").exists() && time.find("median").is_null())) {
    m.unmeasured = "no time was taken";
  } else if (const Value v =
                 member(time, "median", is_amount, "a time in microseconds", diagnostics);
             v.exists()) {
    if (v.number() > 0)
      m.figures[0].value = v.number() * 1e-6;
    else
      diagnostics.add(v.diagnostic("out-of-range",
                                   fmt::format("median must be above 0, found {}", v.describe())));
  }
  return m;
}

}  // namespace

std::vector<Measurement> read_kvbench(const config::Document& document) {
  Diagnostics diagnostics;
  const Value root = document.root();
  if (!root.is_object())
    throw InputError(root.diagnostic("wrong-type",
                                     fmt::format("expected an object, found {}", root.describe())));
  config::check_schema(root, kvbench_schema, diagnostics);
  diagnostics.throw_if_errors();
  std::string gpu;
  if (const Value device = member(root, "device", is_object, "an object", diagnostics);
      device.exists())
    if (const Value name = member(device, "name", is_text, "a name", diagnostics); name.exists())
      gpu = name.string();
  std::vector<Measurement> out;
  if (const Value results = member(root, "results", is_list, "a list", diagnostics);
      results.exists())
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value result = results.at(i);
      if (!result.is_object()) {
        diagnostics.add(result.diagnostic(
            "wrong-type", fmt::format("expected an object, found {}", result.describe())));
        continue;
      }
      out.push_back(read_case(result, diagnostics));
      out.back().gpu = gpu, out.back().framework = "kvbench";
    }
  diagnostics.throw_if_errors();
  return out;
}

}  // namespace kvsim::calibrate
