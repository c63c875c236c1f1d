#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/bench/run.h"
#include "kvbench/schema_check.h"

using nlohmann::json;
using namespace kvsim::kernels;
using namespace kvsim::kernels::bench;

namespace {

// Runs what it is given under the executor and says that it took ten microseconds.
class Pretended final : public Timing {
 public:
  Measured measure(const LaunchSet& launch, int, const std::function<void()>& busy) override {
    launch(0);
    if (busy) busy();
    return {{.median = 10, .p10 = 9, .p90 = 11, .n = 30}, ""};
  }
  Ceilings machine_ceilings() override {
    return {.memcpy_gbs = 4000, .h2d_gbs = 50, .launch_us = 2, .graph_node_us = 1};
  }
  double free_bytes() override { return 1e9; }
  std::string pci_bus_id() override { return "0000:00:00.0"; }
  std::optional<double> datasheet_gbs() override { return 4800; }
};

Document run(const Options& options) {
  const auto device = make_cpu_device({});
  Pretended timing;
  Document document;
  document.started = "2026-01-01T00:00:00Z";
  document.build.compiler = "any";
  document.backend = Backend::gpu;
  Deadline deadline(options.budget_s);
  run_gpu(*device, timing, options, document, deadline);
  return document;
}

}  // namespace

TEST_CASE("a document with times follows the schema too") {
  const Document document = run({.filter = "empty/"});
  std::ifstream in(std::string(KVSIM_SOURCE_DIR) + "/docs/schema/kvbench.json");
  const std::string schema{std::istreambuf_iterator<char>(in), {}};
  json shape = json::parse(to_json(document));
  shape["device"]["sms"] = 132;  // the executor's device has no such facts
  for (const std::string& violation : schema_violations(schema, shape.dump()))
    FAIL_CHECK(violation);
}

TEST_CASE("a run on a device checks the small cases then times the others twice") {
  const Document document = run({.filter = "empty/"});
  int timed = 0, checked = 0;
  for (const Result& r : document.results) {
    if (r.info.kernel != "empty") continue;  // ceilings: their gigabytes do not fit here
    CHECK(r.status == Status::ok);
    CHECK(r.check.has_value());
    timed += r.time_us && r.time_us->repeat_median ? 1 : 0;
    checked += r.time_us ? 0 : 1;
  }
  CHECK(timed >= 1);
  CHECK(checked >= 1);
  CHECK(document.ceilings.memcpy_gbs == 4000.0);
  // Ten microseconds for a walk over the lines of a megabyte.
  CHECK(document.ceilings.l2_ns.value() == doctest::Approx(10e3 / 8192));
}

TEST_CASE("copies and reads of a gigabyte come first whatever the filter") {
  const Document document = run({.quick = true, .filter = "empty/"});
  std::set<std::string> first;
  for (const Result& r : document.results) {
    if (r.info.kernel == "empty") break;
    first.insert(r.info.kernel);
    CHECK_FALSE(r.variant.baseline);
  }
  CHECK(first == std::set<std::string>{"copy", "read"});
}

TEST_CASE("a run that its budget cut says how many cases it did not reach") {
  const Document document = run({.scope = Scope::check, .budget_s = 1e-9, .filter = "empty/"});
  CHECK(document.not_reached >= document.results.size());
  CHECK(document.notes.back() ==
        std::to_string(document.not_reached) + " cases were not reached: budget.");
  CHECK(run({.scope = Scope::check, .filter = "empty/"}).not_reached == 0);
}

TEST_CASE("a check alone takes no times and no ceilings") {
  const Document document = run({.scope = Scope::check, .filter = "empty/"});
  CHECK(!document.results.empty());
  for (const Result& r : document.results) CHECK_FALSE(r.time_us);
  CHECK_FALSE(document.ceilings.memcpy_gbs);
}
