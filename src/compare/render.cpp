#include <fmt/format.h>

#include <cmath>

#include "compare/comparison.h"
#include "config/document.h"
#include "units/format.h"

namespace kvsim::compare {
namespace {

std::string number(const std::optional<double>& value) {
  if (!value) return "-";
  if (*value == std::round(*value) && std::abs(*value) < 1e15)
    return format_integer(std::llround(*value));
  return fmt::format("{:.6g}", *value);
}

std::string percent(double ratio) {
  if (std::isinf(ratio)) return ratio > 0 ? "from 0" : "below 0";
  const std::string text = fmt::format("{:+.3g} %", ratio * 100);
  return text;
}

std::string limit(const Difference& d) {
  const bool one_sided = d.change == Change::only_base || d.change == Change::only_new;
  return one_sided ? "-" : fmt::format("{:g} %", d.limit * 100);
}

std::string name(const Difference& d) { return std::string(short_name(d.path)); }

std::string digest(const std::string& text) {
  return text.empty() ? "no scenario" : text.substr(0, 8);
}

std::string heading(const Comparison& c) {
  std::string out = fmt::format("base {}  new {}  ", digest(c.base_digest), digest(c.new_digest));
  out += c.base_digest.empty() || c.new_digest.empty() ? "only common figures are compared"
         : c.same_scenario()                           ? "same scenario"
                                                       : "DIFFERENT SCENARIOS";
  if (c.base_behaviour != c.new_behaviour && !c.base_behaviour.empty() &&
      !c.new_behaviour.empty()) {
    out += fmt::format(", behaviour {} -> {}", c.base_behaviour, c.new_behaviour);
  }
  if (!c.complete) out += ", an INTERRUPTED run among them";
  return out;
}

std::string counts(const Comparison& c) {
  std::string out =
      fmt::format("{} regressed, {} improved, {} drifted, {} unchanged", c.count(Change::regressed),
                  c.count(Change::improved), c.count(Change::drifted), c.count(Change::same));
  const int lone = c.count(Change::only_base) + c.count(Change::only_new);
  if (lone > 0) out += fmt::format(", {} on one side only", lone);
  return out;
}

// The regression that is largest against its limit.
const Difference* worst(const Comparison& c) {
  const Difference* out = nullptr;
  const auto size = [](const Difference& d) { return std::abs(d.relative) - d.limit; };
  for (const Difference& d : c.differences) {
    if (d.change == Change::regressed && (out == nullptr || size(d) > size(*out))) out = &d;
  }
  return out;
}

std::string verdict(const Comparison& c) {
  if (const Difference* d = worst(c)) {
    return fmt::format(
        "To accept it: kvsim compare BASE NEW --tolerance {0}=LIMIT\nVerdict: regression, the "
        "largest is {0} {1} (limit {2}).",
        name(*d), percent(d->relative), limit(*d));
  }
  return "Verdict: no regression.";
}

}  // namespace

std::string to_text(const Comparison& c) {
  std::string out = heading(c) + '\n';
  for (const std::string& line : c.scenario_differences)
    out += fmt::format("  scenario {:.85}\n", line);
  bool head = false;
  for (const Difference& d : c.differences) {
    if (d.change == Change::same) continue;
    if (!head) {
      out += fmt::format("  {:31}{:>14}{:>14}{:>10}{:>9}\n", "figure", "base", "new", "change",
                         "limit");
      head = true;
    }
    const bool both = d.base && d.now;
    out += fmt::format("  {:31}{:>14}{:>14}{:>10}{:>9}  {}\n", name(d), number(d.base),
                       number(d.now), both ? percent(d.relative) : "-", limit(d),
                       change_words[static_cast<std::size_t>(d.change)]);
  }
  return out + counts(c) + '\n' + verdict(c) + '\n';
}

std::string to_markdown(const Comparison& c) {
  std::string out = fmt::format("**{}**\n\n", heading(c));
  for (const std::string& line : c.scenario_differences) out += fmt::format("- `{}`\n", line);
  if (!c.scenario_differences.empty()) out += '\n';
  out += "| figure | base | new | change | limit | |\n| --- | ---: | ---: | ---: | ---: | --- |\n";
  for (const Difference& d : c.differences) {
    if (d.change == Change::same) continue;
    const bool both = d.base && d.now;
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", name(d), number(d.base),
                       number(d.now), both ? percent(d.relative) : "-", limit(d),
                       change_words[static_cast<std::size_t>(d.change)]);
  }
  return out + fmt::format("\n{}\n\n{}\n", counts(c), verdict(c));
}

std::string to_json(const Comparison& c) {
  using config::json_string;
  const auto value = [](const std::optional<double>& x) {
    return x ? fmt::format("{}", *x) : std::string("null");
  };
  const auto text = [](const std::string& s) {
    return s.empty() ? std::string("null") : json_string(s);
  };
  std::string out = fmt::format(
      "{{\n  \"schema\": \"kvsim.compare/1\",\n  \"regressed\": {},\n  \"improved\": {},\n  "
      "\"drifted\": {},\n"
      "  \"unchanged\": {},\n  \"complete\": {},\n  \"same_scenario\": {},\n  \"base_scenario\": "
      "{},\n  \"new_scenario\": {},\n"
      "  \"base_behaviour\": {},\n  \"new_behaviour\": {},\n  \"scenario_differences\": [",
      c.count(Change::regressed), c.count(Change::improved), c.count(Change::drifted),
      c.count(Change::same), c.complete,
      c.base_digest.empty() || c.new_digest.empty() ? "null"
                                                    : (c.same_scenario() ? "true" : "false"),
      text(c.base_digest), text(c.new_digest), c.base_behaviour.empty() ? "null" : c.base_behaviour,
      c.new_behaviour.empty() ? "null" : c.new_behaviour);
  for (std::size_t i = 0; i < c.scenario_differences.size(); ++i) {
    out += (i > 0 ? ", " : "") + json_string(c.scenario_differences[i]);
  }
  out += "],\n  \"figures\": [";
  bool first = true;
  for (const Difference& d : c.differences) {
    // JSON has no infinity: a change from 0 has no ratio.
    const bool ratio = d.base && d.now && std::isfinite(d.relative);
    out += fmt::format(
        "{}\n    {{\"path\": {}, \"base\": {}, \"new\": {}, \"relative\": {}, \"limit\": {}, "
        "\"change\": {}}}",
        first ? "" : ",", json_string(d.path), value(d.base), value(d.now),
        ratio ? fmt::format("{}", d.relative) : "null", d.limit,
        json_string(d.change == Change::regressed
                        ? "regressed"
                        : change_words[static_cast<std::size_t>(d.change)]));
    first = false;
  }
  return out + (first ? "]\n}\n" : "\n  ]\n}\n");
}

std::string to_github(const Comparison& c) {
  std::string out;
  for (const Difference& d : c.differences) {
    if (d.change != Change::regressed) continue;
    // A workflow command ends at the line; "%" must be written as %25.
    std::string message = fmt::format("{} {} -> {} ({}, limit {})", name(d), number(d.base),
                                      number(d.now), percent(d.relative), limit(d));
    for (std::size_t at = 0; (at = message.find('%', at)) != std::string::npos; at += 3)
      message.replace(at, 1, "%25");
    out += "::error title=kvsim compare::" + message + '\n';
  }
  return out;
}

}  // namespace kvsim::compare
