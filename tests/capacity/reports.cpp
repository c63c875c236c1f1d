#include "capacity/reports.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "config/csv.h"
#include "diag/check.h"
#include "support/paths.h"
#include "units/parse.h"

namespace kvsim::testing {
namespace {

std::map<std::string, std::map<std::string, std::string>> keyed(const std::string& path) {
  config::CsvReader csv = config::CsvReader::open(path);
  std::map<std::string, std::map<std::string, std::string>> rows;
  while (csv.next()) {
    auto& row = rows[csv.cell(0)];
    for (std::size_t i = 0; i < csv.header().size(); ++i) row[csv.header()[i]] = csv.cell(i);
  }
  return rows;
}

double number_or(const std::string& text, double fallback) {
  return text.empty() ? fallback : parse_number(text).value_or(fallback);
}

Check parse_check(const std::string& word) {
  constexpr std::array words{"given", "predict", "terms", "none"};
  const auto at = std::find(words.begin(), words.end(), word);
  KVSIM_CHECK(at != words.end(), "requests.csv: unknown check {}", word);
  return static_cast<Check>(at - words.begin());
}

}  // namespace

std::string Report::text(const std::string& column) const {
  const auto at = cells.find(column);
  KVSIM_CHECK(at != cells.end(), "no column {}", column);
  return at->second;
}

std::optional<double> Report::number(const std::string& column) const {
  const std::string value = text(column);
  return value.empty() ? std::nullopt : parse_number(value);
}

std::optional<double> Report::tokens() const {
  if (const auto printed = number("kv_tokens")) return printed;
  const auto blocks = number("gpu_blocks");
  if (!blocks || *blocks < 1) return std::nullopt;
  const std::string engine = text("engine");
  const double standard = engine == "tensorrt-llm" ? 32 : engine == "sglang" ? 1 : 16;
  return *blocks * number("block_size").value_or(standard);
}

double Report::half_width_gib() const {
  const std::string printed = text("kv_mem_gib");
  const auto point = printed.find('.');
  const double digits =
      point == std::string::npos ? 0 : static_cast<double>(printed.size() - point - 1);
  const double half = std::max(0.5 * std::pow(10, -std::max(2.0, digits)), 1e-6);
  return text("engine") == "sglang" ? 2 * half : half;
}

double Geometry::bytes_per_token() const {
  const double heads = family == "mla" ? 1 : 2 * std::max(kv_heads / tp, 1.0);
  return layers * heads * width * element_bytes + extra_bytes;
}

std::optional<Reports> load_reports() {
  const std::filesystem::path source = KVSIM_SOURCE_DIR;
  const std::filesystem::path data = source.parent_path() / "shared" / "data" / "capacity";
  if (!std::filesystem::exists(data / "reported_capacity.csv")) return std::nullopt;
  Reports all;
  for (auto& [id, cells] : keyed((data / "reported_capacity.csv").string()))
    all.rows[id].cells = cells;
  for (auto& [id, c] : keyed((data / "geometry.csv").string()))
    all.geometry[id] = {c["family"],
                        number_or(c["layers"], 0),
                        number_or(c["kv_heads"], 0),
                        number_or(c["width"], 0),
                        number_or(c["elem_bytes"], 0),
                        number_or(c["tp"], 1),
                        number_or(c["extra_bytes"], 0)};
  config::CsvReader csv =
      config::CsvReader::open((source / "tests" / "capacity" / "requests.csv").string());
  while (csv.next())
    all.requests.push_back({csv.cell(0), csv.cell(2), csv.cell(3), csv.cell(4), csv.cell(5),
                            csv.cell(6), csv.cell(7), parse_check(csv.cell(1))});
  return all;
}

}  // namespace kvsim::testing
