#include "report/plan_json.h"

#include <nlohmann/json.hpp>

#include "report/json_layout.h"
#include "report/plan_answers.h"
#include "report/plan_sources.h"

namespace kvsim::report {
namespace {

using nlohmann::ordered_json;

constexpr auto number = json_number<ordered_json>;

ordered_json ledger(const planner::Plan& p) {
  ordered_json lines = ordered_json::array();
  for (const planner::LedgerLine& l : p.ledger)
    lines.push_back({{"name", l.name},
                     {"bytes", l.bytes.value()},
                     {"in_budget", l.in_budget},
                     {"uncertainty_bytes", l.uncertainty.value()},
                     {"note", l.note}});
  return {{"total_bytes", p.total.value()},
          {"budget_bytes", p.budget.value()},
          {"weights_bytes", p.weights.value()},
          {"activation_bytes", p.activation.value()},
          {"non_torch_bytes", p.non_torch.value()},
          {"cuda_graph_bytes", p.cuda_graph.value()},
          {"kv_bytes", p.kv.value()},
          {"kv_uncertainty_bytes", p.kv_uncertainty.value()},
          {"state_bytes", p.state.value()},
          {"reserve_bytes", p.reserve.value()},
          {"shortfall_bytes", p.shortfall.value()},
          {"lines", std::move(lines)}};
}

ordered_json kv(const planner::Plan& p) {
  ordered_json groups = ordered_json::array();
  for (const planner::Group& g : p.groups)
    groups.push_back({{"name", g.name},
                      {"attention", g.attention},
                      {"layers", g.layers},
                      {"window", g.window},
                      {"block_tokens", g.block_tokens},
                      {"bytes_per_token", number(g.bytes_per_token)},
                      {"bytes_per_sequence", number(g.bytes_per_sequence)}});
  return {{"dtype", p.kv_dtype},
          {"bytes_per_token", number(p.bytes_per_token)},
          {"bytes_per_sequence", number(p.bytes_per_sequence)},
          {"bytes_per_sequence_extra", number(p.bytes_per_sequence_extra)},
          {"block_tokens", p.block_tokens},
          {"blocks", p.blocks},
          {"tokens", p.tokens},
          {"tokens_low", p.tokens_low},
          {"tokens_high", p.tokens_high},
          {"break_even_tokens", p.break_even_tokens},
          {"max_concurrency", number(p.max_concurrency)},
          {"max_model_len", p.max_model_len},
          {"feasible_model_len", p.feasible_len},
          {"groups", std::move(groups)}};
}

ordered_json point(const planner::Point& at) {
  ordered_json operators = ordered_json::array();
  for (const planner::Operator& o : at.operators)
    operators.push_back({{"name", o.name},
                         {"ms", number(o.ms)},
                         {"share", number(o.share)},
                         {"binds", o.binds},
                         {"calls", o.calls},
                         {"source", o.source},
                         {"octaves_outside", number(o.octaves_outside)}});
  return {{"context", at.context},
          {"batch", at.batch},
          {"kv_bytes", at.kv_bytes.value()},
          {"kv_fits", at.kv_fits},
          {"prefill_ms", number(at.prefill_ms)},
          {"prefill_ms_low", number(at.prefill_range.low)},
          {"prefill_ms_high", number(at.prefill_range.high)},
          {"decode_ms", number(at.decode_ms)},
          {"decode_ms_low", number(at.decode_range.low)},
          {"decode_ms_high", number(at.decode_range.high)},
          {"output_tokens_per_s", number(at.output_tokens_per_s)},
          {"binds", at.binds},
          {"prefill_binds", at.prefill_binds},
          {"intensity", number(at.intensity)},
          {"ridge", number(at.ridge)},
          {"source", at.source},
          {"source_note", at.source_note},
          {"outside_range_ratio", number(at.outside_range_ratio)},
          {"operators", std::move(operators)}};
}

ordered_json explorer(const planner::Explorer& e) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : e.rows)
    rows.push_back({{"kv_cache_dtype", row.kv_dtype},
                    {"bits_per_element", number(row.bits)},
                    {"requests", row.requests}});
  return {{"contexts", e.contexts}, {"rows", std::move(rows)}};
}

ordered_json candidates(const std::vector<planner::Candidate>& list) {
  ordered_json out = ordered_json::array();
  for (const planner::Candidate& c : list)
    out.push_back({{"tensor_parallel_size", c.plan.tensor_parallel_size},
                   {"pipeline_parallel_size", c.plan.pipeline_parallel_size},
                   {"data_parallel_size", c.plan.data_parallel_size},
                   {"kv_cache_dtype", c.kv_dtype},
                   {"fits", c.fits},
                   {"context", c.context},
                   {"batch", c.batch},
                   {"prefill_ms", number(c.prefill_ms)},
                   {"decode_ms", number(c.decode_ms)},
                   {"output_tokens_per_s_per_gpu", number(c.tokens_per_s_per_gpu)},
                   {"output_tokens_per_s_per_user", number(c.tokens_per_s_per_user)},
                   {"pareto", c.pareto},
                   {"why", c.why}});
  return out;
}

}  // namespace

std::string plan_json(const planner::Plan& p, const std::vector<planner::Candidate>& search) {
  ordered_json doc;
  doc["schema"] = plan_schema;
  doc["fits"] = p.fits;
  doc["model"] = p.model;
  doc["gpu"] = p.gpu;
  doc["engine"] = p.engine;
  doc["rules"] = p.rules;
  doc["deployment"] = {{"gpus", p.parallel.gpus()},
                       {"tensor_parallel_size", p.parallel.tensor_parallel_size},
                       {"pipeline_parallel_size", p.parallel.pipeline_parallel_size},
                       {"data_parallel_size", p.parallel.data_parallel_size},
                       {"enable_expert_parallel", p.parallel.enable_expert_parallel},
                       {"max_model_len", p.max_model_len},
                       {"max_num_seqs", p.max_num_seqs},
                       {"max_num_batched_tokens", p.max_num_batched_tokens},
                       {"weights", p.weight_format}};
  if (p.from_command) doc["from_command"] = ordered_json::parse(from_command_json(*p.from_command));
  if (p.from_log) doc["from_log"] = ordered_json::parse(from_log_json(p));
  if (!p.fraction_flag.empty()) doc["deployment"][p.fraction_flag] = number(p.fraction);
  doc["gpu_memory"] = ledger(p);
  doc["kv"] = kv(p);
  doc["at"] = point(p.at);
  doc["engine_log"] = p.engine_log;
  doc["limit"] = p.limit;
  doc.merge_patch(ordered_json::parse(answers_json(p)));
  doc["explorer"] = explorer(p.explorer);
  if (!search.empty()) doc["search"] = candidates(search);
  doc["warnings"] = p.warnings;
  return layout(doc.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace kvsim::report
