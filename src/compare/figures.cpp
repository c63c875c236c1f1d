#include "compare/figures.h"

#include <algorithm>
#include <array>
#include <utility>

#include "config/reader.h"

namespace kvsim::compare {
namespace {

using config::Kind;
using config::Value;

constexpr std::array<std::pair<std::string_view, Better>, 29> directions{{
    {"completed", Better::higher},
    {"failed", Better::lower},
    {"duration", Better::lower},
    {"request_throughput", Better::higher},
    {"request_goodput", Better::higher},
    {"output_throughput", Better::higher},
    {"total_token_throughput", Better::higher},
    {"max_output_tokens_per_s", Better::higher},
    {"ttft_ms", Better::lower},
    {"tpot_ms", Better::lower},
    {"itl_ms", Better::lower},
    {"e2el_ms", Better::lower},
    {"total_blocks", Better::higher},
    {"peak_used_ratio", Better::lower},
    {"mean_used_ratio", Better::lower},
    {"prefix_hit_tokens", Better::higher},
    {"prefix_hit_rate_tokens", Better::higher},
    {"prefix_hit_rate_blocks", Better::higher},
    {"evicted_blocks", Better::lower},
    {"preemptions", Better::lower},
    {"preempted_tokens", Better::lower},
    {"gpu_hours", Better::lower},
    {"usd_per_million_output_tokens", Better::lower},
    {"usd_per_million_total_tokens", Better::lower},
    {"energy_wh", Better::lower},
    {"energy_wh_per_million_output_tokens", Better::lower},
    {"queue_growth_per_s", Better::lower},
    {"waiting_at_last_arrival", Better::lower},
    {"mean_waiting", Better::lower},
}};

// "p99_ttft_ms" -> "ttft_ms", for mean_, median_, std_ and pNN_, with or without _low and _high;
// other names stay.
std::string_view family(std::string_view name) {
  if (is_interval_end(name)) name.remove_suffix(name.size() - name.rfind('_'));
  const std::size_t cut = name.find('_');
  if (cut == std::string_view::npos) return name;
  const std::string_view first = name.substr(0, cut), rest = name.substr(cut + 1);
  const bool percentile = first.size() > 1 && first[0] == 'p' && first[1] >= '0' && first[1] <= '9';
  const bool latency =
      rest == "ttft_ms" || rest == "tpot_ms" || rest == "itl_ms" || rest == "e2el_ms";
  return latency && (percentile || first == "mean" || first == "median" || first == "std") ? rest
                                                                                           : name;
}

}  // namespace

Better better(std::string_view path) {
  std::string_view name = family(short_name(path));
  for (const std::string_view section : {"kv.", "cost.", "engines.", "verdict."}) {
    if (path.starts_with(section)) name = path.substr(path.rfind('.') + 1);
  }
  for (const auto& [known, direction] : directions) {
    if (name == known) return direction;
  }
  return Better::neutral;
}

bool is_interval_end(std::string_view path) {
  const bool other = path.find('.') != path.npos && !path.starts_with("summary.");
  return !other && (path.ends_with("_low") || path.ends_with("_high"));
}

std::string_view short_name(std::string_view path) {
  constexpr std::string_view summary = "summary.";
  return path.starts_with(summary) ? path.substr(summary.size()) : path;
}

Figures::Figures(const config::Document& document) {
  const Value root = document.root();
  if (!root.is_object()) {
    throw InputError(
        root.diagnostic("wrong-type", "expected a result document, found " + root.describe()));
  }
  if (root.find("schema").exists()) {
    Diagnostics diagnostics;
    config::check_schema(root, "kvsim.run/1", diagnostics);
    for (const char* section : {"summary", "kv", "cost", "engines", "verdict"}) {
      const Value value = root.find(section);
      if (!value.exists() || !(value.is_object() || value.is_array())) {
        diagnostics.add(root.diagnostic(
            "result-incomplete", std::string("the result has no section \"") + section + "\""));
        continue;
      }
      collect(value, section);
    }
    diagnostics.throw_if_errors();
    is_run_ = true;
    return;
  }
  if (!root.find("completed").exists() || !root.find("request_throughput").exists()) {
    throw InputError(root.diagnostic(
        "result-unknown", "neither a kvsim.run/1 document nor the JSON of vllm bench serve",
        "write one with kvsim run SCENARIO --json -o FILE"));
  }
  for (std::size_t i = 0; i < root.size(); ++i) {
    const Kind kind = root.at(i).kind();
    if (kind == Kind::integer || kind == Kind::number || kind == Kind::null)
      collect(root.at(i), "summary." + root.key(i));
  }
}

void Figures::collect(Value value, const std::string& path) {
  switch (value.kind()) {
    case Kind::integer:
    case Kind::number:
      list_.push_back({path, value.number()});
      return;
    case Kind::null:
      list_.push_back({path, std::nullopt});
      return;
    case Kind::object:
      for (std::size_t i = 0; i < value.size(); ++i)
        collect(value.at(i), path + '.' + value.key(i));
      return;
    case Kind::array:
      if (path == "summary.percentiles") return;
      // Operators stand in order of their time: their names tell them apart, not their places.
      for (std::size_t i = 0; i < value.size(); ++i) {
        const Value name = path.ends_with(".operators") && value.at(i).is_object()
                               ? value.at(i).find("name")
                               : Value();
        const bool named = name.exists() && name.is_string();
        collect(value.at(i), path + '.' + (named ? name.string() : std::to_string(i)));
      }
      return;
    case Kind::boolean:
    case Kind::string:
      return;
  }
}

const Figure* Figures::find(std::string_view name) const {
  for (const Figure& figure : list_) {
    if (figure.path == name || short_name(figure.path) == name) return &figure;
  }
  return nullptr;
}

std::vector<std::string> Figures::names() const {
  std::vector<std::string> out;
  for (const Figure& figure : list_) out.emplace_back(short_name(figure.path));
  return out;
}

}  // namespace kvsim::compare
