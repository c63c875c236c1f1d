#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenario/run.h"
#include "spec/catalog.h"

// More of a resource does not hurt the shipped scenarios.

using namespace kvsim;

namespace {

std::vector<std::string> shipped() {
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KVSIM_SOURCE_DIR) + "/scenarios"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Output tokens per second when every GPU of the scenario has `memory` and `bandwidth` times as
// much.
double throughput(const scenario::Resolved& plain, const std::string& path, double memory,
                  double bandwidth) {
  static const spec::Catalog catalog;
  std::vector<scenario::Override> changes;
  for (std::size_t i = 0; i < plain.pools.size(); ++i) {
    const spec::GpuSpec& gpu = plain.pools[i].gpu;
    const auto bytes =
        static_cast<std::int64_t>(static_cast<double>(gpu.usable_memory().value()) * memory);
    changes.push_back(
        {"cluster.pools." + std::to_string(i) + ".engine.gpu",
         "{\"base\": \"" + gpu.id + "\", \"set\": {\"memory\": " + std::to_string(bytes) +
             ", \"memory_reported\": " + std::to_string(bytes) + ", \"memory_bandwidth\": " +
             std::to_string(gpu.memory_bandwidth.value() * bandwidth) + "}}"});
  }
  return scenario::run(scenario::load(path, catalog, changes)).summary.output_throughput;
}

}  // namespace

TEST_CASE("more memory or bandwidth costs no shipped scenario over one percent of its throughput") {
  static const spec::Catalog catalog;
  // Scenarios that may lose more, each with its reason. None so far.
  const std::map<std::string, double> exceptions = {};
  for (const std::string& path : shipped()) {
    CAPTURE(path);
    const std::string name = std::filesystem::path(path).stem().string();
    const auto found = exceptions.find(name);
    const double allowed = found == exceptions.end() ? 0.01 : found->second;
    const scenario::Resolved plain = scenario::load(path, catalog);
    const double base = throughput(plain, path, 1, 1);
    REQUIRE(base > 0);
    CHECK(throughput(plain, path, 1.25, 1) >= base * (1 - allowed));
    CHECK(throughput(plain, path, 1, 1.25) >= base * (1 - allowed));
  }
}
