#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/json_layout.h"
#include "report/plan_sources.h"
#include "report/table.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using nlohmann::ordered_json;
using planner::LogAttribution;
using planner::LogTerm;
using planner::Unit;

std::string amount(double value, Unit unit) {
  if (!std::isfinite(value)) return "-";
  switch (unit) {
    case Unit::bytes:
      return fmt::format("{:.2f} GiB", value / static_cast<double>(gib));
    case Unit::tokens:
    case Unit::count:
      return format_integer(static_cast<std::int64_t>(value));
    case Unit::ratio:
      return fmt::format("{:.2f}x", value);
  }
  return "";
}

std::string difference(const LogTerm& t) {
  if (!std::isfinite(t.predicted)) return "-";
  if (t.printed == 0) return t.predicted == 0 ? "0.0 %" : "-";
  return fmt::format("{:+.1f} %", (t.predicted / t.printed - 1) * 100);
}

Unit target_unit(const LogAttribution& a) {
  return a.target == launch::Term::tokens ? Unit::tokens : Unit::bytes;
}

constexpr auto number = json_number<ordered_json>;

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "bytes";
    case Unit::tokens:
      return "tokens";
    case Unit::count:
      return "count";
    case Unit::ratio:
      return "ratio";
  }
  return "";
}

// Bytes come from sizes in GiB with two decimals.
ordered_json figure(double x, Unit unit) { return number(unit == Unit::bytes ? std::round(x) : x); }
ordered_json figure(const std::optional<double>& x, Unit unit) {
  return x ? figure(*x, unit) : nullptr;
}

ordered_json term(const LogTerm& t, Unit target) {
  return {{"name", launch::name(t.term)},
          {"unit", unit_name(t.unit)},
          {"printed", figure(t.printed, t.unit)},
          {"predicted", figure(t.predicted, t.unit)},
          {"difference_ratio",
           t.printed == 0 ? ordered_json(nullptr) : number(t.predicted / t.printed - 1)},
          {"prediction_with_it", figure(t.with_it, target)},
          {"line", t.line},
          {"worker", t.worker},
          {"note", t.note}};
}

}  // namespace

std::string from_log_text(const planner::Plan& p) {
  const launch::EngineLog& log = *p.from_log;
  const LogAttribution& a = p.log_attribution;
  std::string out = fmt::format(
      "Read from the log ({}{}{})\n", log.engine, log.version.empty() ? "" : " " + log.version,
      log.workers.size() > 1
          ? fmt::format(", {} workers, {} has the smallest pool", log.workers.size(), log.poorest())
          : "");
  out += settings_text(log.flags);
  for (const launch::Refusal& r : log.refusals)
    out += fmt::format("  refused (line {}): {}\n", r.line, r.text);
  out += "\nThe log against the prediction\n";
  const std::string with = a.target ? fmt::format("{} with it", launch::name(*a.target)) : "";
  Table t({{"", Align::left},
           {"printed", Align::right},
           {"predicted", Align::right},
           {"difference", Align::right},
           {with, Align::right},
           {"line", Align::right}});
  for (const LogTerm& row : a.terms)
    t.row({std::string(launch::name(row.term)) + (row.note.empty() ? "" : " (" + row.note + ")"),
           amount(row.printed, row.unit), amount(row.predicted, row.unit), difference(row),
           row.with_it ? amount(*row.with_it, target_unit(a)) : "", std::to_string(row.line)});
  if (a.with_all)
    t.row({"all terms of the budget as printed", "", "", "", amount(*a.with_all, target_unit(a)),
           ""});
  out += t.text(2, 140);
  if (!a.verdict.empty()) out += fmt::format("Explanation: {}.\n", a.verdict);
  return out;
}

std::string from_log_json(const planner::Plan& p) {
  const launch::EngineLog& log = *p.from_log;
  const LogAttribution& a = p.log_attribution;
  ordered_json terms = ordered_json::array(), refusals = ordered_json::array();
  for (const LogTerm& t : a.terms) terms.push_back(term(t, target_unit(a)));
  for (const launch::Refusal& r : log.refusals)
    refusals.push_back({{"line", r.line}, {"text", r.text}});
  ordered_json doc{{"engine", log.engine},
                   {"version", log.version},
                   {"workers", log.workers},
                   {"compared_worker", log.poorest()}};
  doc.update(ordered_json::parse(settings_json(log.flags)));
  doc["refusals"] = std::move(refusals);
  doc["terms"] = std::move(terms);
  ordered_json& e = doc["explanation"];
  e["of"] = a.target ? ordered_json(launch::name(*a.target)) : ordered_json(nullptr);
  e["printed"] = a.target ? figure(a.printed, target_unit(a)) : nullptr;
  e["predicted"] = a.target ? figure(a.predicted, target_unit(a)) : nullptr;
  e["term"] = a.explanation ? ordered_json(launch::name(*a.explanation)) : ordered_json(nullptr);
  e["prediction_with_it"] = a.explanation ? figure(a.explained, target_unit(a)) : nullptr;
  e["remaining"] = a.explanation ? figure(a.explained - a.printed, target_unit(a)) : nullptr;
  e["prediction_with_all"] = figure(a.with_all, target_unit(a));
  e["verdict"] = a.verdict;
  return doc.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace kvsim::report
