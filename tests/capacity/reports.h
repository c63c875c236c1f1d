#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

// Published start-up reports (data/capacity) and how each is asked of kvsim (requests.csv).
namespace kvsim::testing {

// A row of reported_capacity.csv; cells that a report does not state are empty.
struct Report {
  std::map<std::string, std::string> cells;
  std::string text(const std::string& column) const;
  std::optional<double> number(const std::string& column) const;
  // Printed KV tokens, or blocks times the block of the engine.
  std::optional<double> tokens() const;
  // Half of the last printed digit of the KV size; SGLang prints K and V apart.
  double half_width_gib() const;
};

// A row of geometry.csv: what a token takes, without a model.
struct Geometry {
  std::string family;  // gqa or mla
  double layers = 0, kv_heads = 0, width = 0, element_bytes = 0, tp = 1, extra_bytes = 0;
  double bytes_per_token() const;  // on one GPU, by the plain formula
};

enum class Check { given, predict, terms, none };

struct Request {
  std::string id, model, gpu, version, basis, flags, why;
  Check check = Check::none;
};

struct Reports {
  std::map<std::string, Report> rows;
  std::map<std::string, Geometry> geometry;
  std::vector<Request> requests;
};

// Empty when data/capacity is not beside the checkout.
std::optional<Reports> load_reports();

}  // namespace kvsim::testing
