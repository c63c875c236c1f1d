#include "calibrate/measurements/kvbench.h"

#include <fmt/format.h>

#include "calibrate/measurements/kvbench_shape.h"
#include "config/reader.h"

namespace kvsim::calibrate {
namespace {

using config::Value;

bool is_object(Value v) { return v.is_object(); }
bool is_list(Value v) { return v.is_array(); }
bool is_object_or_null(Value v) { return v.is_object() || v.is_null(); }

Measurement read_case(Value result, Diagnostics& diagnostics) {
  Measurement m;
  const Value kernel = member(result, "kernel", is_text, "a name", diagnostics);
  if (const Value v = result.find("variant"); v.exists() && v.is_string()) m.backend = v.string();
  BenchCase work;
  if (const Value v = member(result, "bytes", is_amount, "a number of bytes", diagnostics);
      v.exists())
    work.bytes = v.number();
  if (const Value v = member(result, "flops", is_amount, "a number of operations", diagnostics);
      v.exists())
    work.flops = v.number();
  if (const Value v = result.find("rotating_sets"); v.exists() && is_amount(v) && v.number() > 1)
    m.buffers = cost::Buffers::cold;
  const Value naive = result.find("baseline");
  const auto role = naive.exists() && naive.kind() == config::Kind::boolean && naive.boolean()
                        ? Role::baseline
                        : Role::operator_kernel;
  if (kernel.exists()) read_shape(kernel.string(), role, result, work, m, diagnostics);
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

std::vector<BenchRow> read_kvbench(const config::Document& document) {
  Diagnostics diagnostics;
  const Value root = document.root();
  if (!root.is_object())
    throw InputError(root.diagnostic("wrong-type",
                                     fmt::format("expected an object, found {}", root.describe())));
  config::check_schema(root, kvbench_schema, diagnostics);
  diagnostics.throw_if_errors();
  std::string gpu, version;
  if (const Value git = root.find("git"); git.exists() && git.is_string())
    version = git.string().substr(0, 12);
  if (const Value device = member(root, "device", is_object, "an object", diagnostics);
      device.exists())
    if (const Value name = member(device, "name", is_text, "a name", diagnostics); name.exists())
      gpu = name.string();
  std::vector<BenchRow> out;
  if (const Value results = member(root, "results", is_list, "a list", diagnostics);
      results.exists())
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value result = results.at(i);
      if (!result.is_object()) {
        diagnostics.add(result.diagnostic(
            "wrong-type", fmt::format("expected an object, found {}", result.describe())));
        continue;
      }
      const std::string origin = result.origin();
      out.push_back({read_case(result, diagnostics), origin.substr(0, origin.rfind(':'))});
      Measurement& m = out.back().measurement;
      m.gpu = gpu, m.framework = kvbench_framework, m.version = version;
    }
  diagnostics.throw_if_errors();
  return out;
}

}  // namespace kvsim::calibrate
