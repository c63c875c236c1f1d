#include <cmath>
#include <nlohmann/json.hpp>

#include "report/plan_answers.h"

namespace kvsim::report {
namespace {

using nlohmann::ordered_json;
using planner::Plan;
using planner::Setting;

ordered_json setting_value(const Setting& s) {
  if (s.word == "true") return true;
  if (!s.word.empty()) return s.word;
  if (s.number == std::floor(s.number)) return static_cast<std::int64_t>(s.number);
  return s.number;
}

ordered_json kv(const Plan& p) {
  ordered_json kv;
  ordered_json ranges = ordered_json::array();
  for (const planner::LengthRange& r : p.feasible.ranges)
    ranges.push_back(ordered_json::array({r.first, r.last}));
  kv["feasible_lengths"] = std::move(ranges);
  kv["largest_max_model_len"] = p.feasible.largest;
  kv["feasible_lengths_limit"] = p.feasible.limit;
  kv["feasible_lengths_resolution"] = p.feasible.resolution;
  kv["usable_tokens"] = p.usable.tokens;
  kv["usable_tokens_note"] = p.usable.note;
  return kv;
}

ordered_json smallest(const Plan& p) {
  ordered_json list = ordered_json::array();
  for (const planner::Smallest& s : p.smallest) {
    ordered_json row{{"name", s.name}, {"asked", s.asked}, {"fits", s.found.has_value()}};
    ordered_json set = ordered_json::object();
    if (s.found) set[s.name] = setting_value(*s.found);
    row["set"] = std::move(set);
    row["as_asked"] = s.same;
    row["tokens"] = s.tokens;
    row["max_concurrency"] = s.max_concurrency;
    row["tried"] = s.tried;
    list.push_back(std::move(row));
  }
  return list;
}

ordered_json advice(const Plan& p) {
  ordered_json out = ordered_json::array();
  for (const planner::Advice& a : p.advice) {
    ordered_json set = ordered_json::object();
    for (const Setting& s : a.set) set[s.name] = setting_value(s);
    out.push_back({{"set", std::move(set)}, {"fits", a.fits}, {"gain", a.gain}});
  }
  return out;
}

}  // namespace

std::string answers_json(const Plan& p) {
  ordered_json doc;
  doc["kv"] = kv(p);
  doc["advice"] = advice(p);
  doc["smallest"] = smallest(p);
  return doc.dump();
}

}  // namespace kvsim::report
