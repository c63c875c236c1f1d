#include "compare/requirement.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "diag/suggest.h"
#include "units/parse.h"

namespace kvsim::compare {
namespace {

using Op = Requirement::Op;

// Longer signs first: "<=" before "<".
constexpr std::array<std::pair<std::string_view, Op>, 5> signs{{{"<=", Op::less_equal},
                                                                {">=", Op::greater_equal},
                                                                {"==", Op::equal},
                                                                {"<", Op::less},
                                                                {">", Op::greater}}};

std::string_view sign(Op op) {
  for (const auto& [text, known] : signs) {
    if (known == op) return text;
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<double> parse_value(std::string_view field, std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  if (text.ends_with('%') &&
      (field.ends_with("_ratio") || field.find("_rate_") != std::string_view::npos)) {
    const auto number = parse_number(trimmed(text.substr(0, text.size() - 1)));
    return number ? std::optional(*number / 100) : std::nullopt;
  }
  const bool ms = field.ends_with("_ms");
  if (ms || field.ends_with("_s") || short_name(field) == "duration") {
    if (const auto span = parse_duration(text)) return ms ? to_ms(*span) : to_seconds(*span);
  }
  return std::nullopt;
}

bool holds(double value, Op op, double limit) {
  switch (op) {
    case Op::less_equal:
      return value <= limit;
    case Op::less:
      return value < limit;
    case Op::greater_equal:
      return value >= limit;
    case Op::greater:
      return value > limit;
    case Op::equal:
      return value == limit;
  }
  return false;
}

}  // namespace

bool parse_requirement(std::string_view text, Requirement& out, Problem& problem) {
  const std::string example = "write it like 'p99_ttft_ms<=500', with <=, <, >=, > or ==";
  const std::size_t at = text.find_first_of("<>=!");
  if (at == std::string_view::npos) {
    problem = {fmt::format("the requirement \"{}\" compares nothing", text), example};
    return false;
  }
  for (const auto& [spelling, op] : signs) {
    if (text.substr(at, spelling.size()) != spelling) continue;
    out.text = text;
    out.field = trimmed(text.substr(0, at));
    out.op = op;
    const std::string_view value = trimmed(text.substr(at + spelling.size()));
    if (out.field.empty()) {
      problem = {fmt::format("the requirement \"{}\" names no field", text), example};
      return false;
    }
    const auto number = parse_value(out.field, value);
    if (!number) {
      problem = {
          fmt::format("the requirement \"{}\": \"{}\" is no number for {}", text, value, out.field),
          "a plain number is in the field's own unit; times may say ms or s, shares %"};
      return false;
    }
    out.value = *number;
    return true;
  }
  problem = {fmt::format("the requirement \"{}\" has no comparison that is known", text), example};
  return false;
}

bool has_field(const Requirement& requirement, const Figures& figures, Problem& problem) {
  if (figures.find(requirement.field) != nullptr) return true;
  const std::vector<std::string> names = figures.names();
  const auto near = nearest(requirement.field, names);
  problem = {fmt::format("the requirement \"{}\" names no figure of the result: \"{}\"",
                         requirement.text, requirement.field),
             near ? fmt::format("did you mean \"{}\"?", *near)
                  : "any number of summary, kv, cost or engines, such as p99_ttft_ms, "
                    "output_throughput or kv.preemptions"};
  return false;
}

Outcome check(const Requirement& requirement, const Figures& figures) {
  const Figure* figure = figures.find(requirement.field);
  if (figure == nullptr || !figure->value) {
    return {false, fmt::format("{} has no value here (null), so it is not {} {}", requirement.field,
                               sign(requirement.op), requirement.value)};
  }
  // Latencies of no request at all are no latencies.
  const bool latency = requirement.field.find("_ms") != std::string::npos;
  const Figure* completed = figures.find("completed");
  if (latency && completed != nullptr && completed->value && *completed->value == 0) {
    return {false,
            fmt::format("{} has no value: no measured request completed", requirement.field)};
  }
  const bool ok = holds(*figure->value, requirement.op, requirement.value);
  return {ok, fmt::format("{} {} {}{} {}", requirement.field, *figure->value, ok ? "" : "is not ",
                          sign(requirement.op), requirement.value)};
}

}  // namespace kvsim::compare
