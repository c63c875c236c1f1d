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

ordered_json ranges(const planner::Feasible& f) {
  ordered_json list = ordered_json::array();
  for (const planner::LengthRange& r : f.ranges)
    list.push_back(ordered_json::array({r.first, r.last}));
  return list;
}

ordered_json kv(const Plan& p) {
  ordered_json kv;
  kv["feasible_lengths"] = ranges(p.feasible);
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

ordered_json advice(const std::vector<planner::Advice>& list) {
  ordered_json out = ordered_json::array();
  for (const planner::Advice& a : list) {
    ordered_json set = ordered_json::object();
    for (const Setting& s : a.set) set[s.name] = setting_value(s);
    out.push_back({{"set", std::move(set)}, {"fits", a.fits}, {"gain", a.gain}});
  }
  return out;
}

ordered_json binding(const planner::Binding& b) {
  return {{"term", b.term},
          {"bytes", b.bytes.value()},
          {"line", b.line},
          {"line_bytes", b.line_bytes.value()},
          {"kv_needed_bytes", b.kv_needed.value()},
          {"kv_there_bytes", b.kv_there.value()}};
}

ordered_json against(const Plan& p, const planner::Against& a) {
  ordered_json terms = ordered_json::array();
  for (const planner::Against::Term& t : a.terms)
    terms.push_back({{"name", t.name},
                     {"bytes", t.here.value()},
                     {"against_bytes", t.there.value()},
                     {"difference_bytes", t.difference().value()}});
  return {{"flags", a.flags},
          {"model", a.model},
          {"gpu", a.gpu},
          {"rules", a.rules},
          {"fits", a.fits},
          {"limit", a.limit},
          {"gpus", a.gpus},
          {"tokens", a.tokens},
          {"tokens_difference", a.tokens - p.tokens},
          {"max_model_len", a.max_model_len},
          {"max_concurrency", a.max_concurrency},
          {"bytes_per_token", a.bytes_per_token},
          {"feasible_lengths", ranges(a.feasible)},
          {"largest_max_model_len", a.feasible.largest},
          {"engine_log", a.engine_log},
          {"terms", std::move(terms)},
          {"explains", a.explains}};
}

ordered_json lengths(const planner::AtLengths& a) {
  return {{"lengths", a.description},
          {"requests", a.requests},
          {"refused_ratio", a.refused},
          {"mean_prompt_tokens", a.mean_prompt_tokens},
          {"mean_output_tokens", a.mean_output_tokens},
          {"unit", a.unit},
          {"capacity", a.capacity},
          {"mean_held", a.mean_held},
          {"deviation_held", a.deviation_held},
          {"mean_full", a.mean_full},
          {"most_full", a.most_full},
          {"steady", a.steady},
          {"safe_95", a.safe},
          {"at_peak", a.at_peak},
          {"all_longest", a.all_longest},
          {"max_num_seqs", a.max_num_seqs}};
}

ordered_json streams(const planner::Streams& s) {
  ordered_json rows = ordered_json::array();
  for (const planner::Stream& row : s.rows) {
    ordered_json out{{"tokens", row.tokens},
                     {"kv_bytes", row.kv_each.value()},
                     {"need", row.need},
                     {"requests", row.requests},
                     {"by_bytes", row.by_bytes}};
    if (row.if_gib) out["if_gib"] = *row.if_gib;
    rows.push_back(std::move(out));
  }
  return {{"kv_bytes", s.deployment_kv.value()}, {"unit", s.unit}, {"rows", std::move(rows)}};
}

ordered_json room(const planner::Room& r) {
  ordered_json out{{"requests", r.ask.requests}, {"tokens", r.ask.tokens}, {"holds_now", r.holds}};
  if (r.kv_memory) {
    out["kv_cache_memory_bytes"] = r.kv_memory->value();
    out["deployment_kv_bytes"] = r.deployment_kv->value();
  }
  out["kv_cache_memory_fits"] = r.kv_memory_fits;
  out["max_model_len_binds"] = r.length_binds;
  if (r.fraction) out[r.fraction_flag] = *r.fraction;
  out["instead"] = advice(r.instead);
  return out;
}

}  // namespace

std::string answers_json(const Plan& p) {
  ordered_json doc;
  doc["kv"] = kv(p);
  doc["advice"] = advice(p.advice);
  doc["smallest"] = smallest(p);
  doc["binding"] = binding(p.binding);
  doc["nothing_fits"] = p.nothing_fits;
  if (p.against) doc["against"] = against(p, *p.against);
  if (p.at_lengths) doc["at_lengths"] = lengths(*p.at_lengths);
  if (p.streams) doc["streams"] = streams(*p.streams);
  for (const planner::Room& r : p.room) doc["room"].push_back(room(r));
  return doc.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace kvsim::report
