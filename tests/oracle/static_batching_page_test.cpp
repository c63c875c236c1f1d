#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "config/document.h"
#include "scenario/run.h"
#include "spec/catalog.h"

// The tables of docs/explanation/static-batching.md against runs of the scenarios they name, and
// against the paper's own figures.

using namespace kvsim;

namespace {

metrics::RunResult run(const std::string& name, const std::string& rate = {},
                       std::vector<scenario::Override> changes = {}) {
  static const spec::Catalog catalog;
  if (!rate.empty()) changes.push_back({"workload.generate.arrival.rate", rate});
  return scenario::run(scenario::load(
      std::string(KVSIM_SOURCE_DIR) + "/scenarios/" + name + ".json", catalog, changes));
}

std::string page() {
  return config::read_file(std::string(KVSIM_SOURCE_DIR) + "/docs/explanation/static-batching.md");
}

// The cells of the table row that begins with `first`, without the first.
std::vector<std::string> row(const std::string& first) {
  std::istringstream lines(page());
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| " + first + " |", 0) != 0) continue;
    std::istringstream cells(line.substr(first.size() + 5));
    std::vector<std::string> out;
    for (std::string cell; std::getline(cells, cell, '|');) out.push_back(cell);
    return out;
  }
  FAIL("the page has no row for ", first);
  return {};
}

double ours(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }
double papers(const std::string& cell) {
  return std::strtod(cell.substr(cell.find('(') + 1).c_str(), nullptr);
}

}  // namespace

TEST_CASE("token states fill the shares of the pool that the paper measured within five points") {
  const struct {
    const char* scenario;
    double paper;
  } systems[] = {{"waste-max-13b", 20.4},
                 {"waste-pow2-13b", 26.8},
                 {"waste-oracle-13b", 38.2},
                 {"waste-paged-13b", 96.3}};
  for (const auto& system : systems) {
    CAPTURE(system.scenario);
    const metrics::RunResult result = run(system.scenario);
    REQUIRE(result.engines.front().kv_waste.under_pressure);
    const metrics::KvShares& s = *result.engines.front().kv_waste.under_pressure;
    CHECK(std::abs(100 * s.token_states_ratio - system.paper) <= 5);
    CHECK(result.summary.completed == 800);

    const std::vector<std::string> cells = row(fmt::format("`{}`", system.scenario));
    REQUIRE(cells.size() == 5);
    CHECK(papers(cells[0]) == system.paper);
    const double shares[] = {s.token_states_ratio, s.reserved_ratio, s.internal_ratio,
                             s.external_ratio};
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      CHECK(std::abs(ours(cells[i]) - 100 * shares[i]) <= 0.0501);
    }
    CHECK(std::abs(ours(cells[4]) - s.mean_running) <= 0.00501);
  }
  CHECK(papers(row("`waste-max-13b`")[4]) == 7);
  CHECK(ours(row("`waste-max-13b`")[4]) == 7);
}

TEST_CASE("paging carries two to four times the rate of contiguous slots at equal latency") {
  const auto value = [](const metrics::RunResult& r, bool ttft) {
    return (ttft ? r.summary.ttft_ms : r.summary.e2el_ms).percentiles[1];
  };
  for (const bool ttft : {true, false}) {
    const auto cells =
        row(ttft ? "p90 of `ttft_ms` at most 2,000" : "p90 of `e2el_ms` at most 22,000");
    REQUIRE(cells.size() == 3);
    const double limit = ttft ? 2000 : 22000;
    double rates[2] = {};
    for (const std::size_t i : {0U, 1U}) {
      const char* name = i == 0 ? "contiguous-13b" : "paged-13b";
      rates[i] = ours(cells[i]);
      CAPTURE(name);
      CHECK(value(run(name, fmt::format("{:.2f}", rates[i])), ttft) <= limit);
      CHECK(value(run(name, fmt::format("{:.2f}", rates[i] + 0.05)), ttft) > limit);
    }
    const double gain = rates[1] / rates[0];
    CHECK(gain >= 2);
    CHECK(gain <= 4);
    CHECK(std::abs(gain - ours(cells[2])) <= 0.0501);
  }
}

TEST_CASE("iterations serve more than batches and paging more than any reservation") {
  const std::string at = "cluster.pools.0.engine.";
  const struct {
    const char *row, *scenario, *batching, *reservation;
  } engines[] = {
      {"FasterTransformer: `batching` request, `reservation` max", "contiguous-13b", "request",
       "max"},
      {"Orca: `batching` iteration, `reservation` max", "contiguous-13b", "iteration", "max"},
      {"Orca: `batching` iteration, `reservation` pow2", "contiguous-13b", "iteration", "pow2"},
      {"Orca: `batching` iteration, `reservation` oracle", "contiguous-13b", "iteration", "oracle"},
      {"paged: vllm-v1", "paged-13b", nullptr, nullptr},
  };
  double before = 0;
  for (const auto& engine : engines) {
    CAPTURE(engine.row);
    std::vector<scenario::Override> changes;
    if (engine.batching)
      changes = {{at + "batching", engine.batching}, {at + "reservation", engine.reservation}};
    const double served = run(engine.scenario, "100", changes).summary.request_throughput;
    CHECK(served > before);
    before = served;
    CHECK(std::abs(ours(row(engine.row)[0]) - served) <= 0.00501);
  }
  const metrics::RunResult slow = run("contiguous-13b", "0.05", {{at + "batching", "request"}});
  CHECK(slow.summary.ttft_ms.percentiles[1] > 2000);
  CHECK(slow.summary.e2el_ms.percentiles[1] > 22000);
}
