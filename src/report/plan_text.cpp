#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/operators.h"
#include "report/plan_answers.h"
#include "report/plan_json.h"
#include "report/plan_sources.h"
#include "report/table.h"
#include "report/wrap.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using planner::Plan;

std::string star(const Plan& p, const char* setting) { return p.given.count(setting) ? "" : "*"; }

std::string size(Bytes b) { return fmt::format("{:.1f} GiB", to_gib(b)); }

std::string token_size(double bytes) {
  return bytes < 1024 ? fmt::format("{:.1f} B", bytes)
                      : format_bytes(Bytes(static_cast<std::int64_t>(bytes)));
}

std::string deployment(const Plan& p) {
  std::string text = fmt::format("{} GPU{}", p.parallel.gpus(), p.parallel.gpus() == 1 ? "" : "s");
  if (p.parallel.gpus() > 1)
    text += fmt::format(" (TP {} x PP {} x DP {}{})", p.parallel.tensor_parallel_size,
                        p.parallel.pipeline_parallel_size, p.parallel.data_parallel_size,
                        p.parallel.enable_expert_parallel ? ", expert parallel" : "");
  return text;
}

std::string ledger(const Plan& p) {
  std::string out = fmt::format("{} on {}, rules {}\n", p.model, p.gpu, p.rules);
  out += fmt::format("Memory on each of {} ({}, {})\n", deployment(p), p.gpu, size(p.total));
  Table t({{"", Align::left}, {"", Align::right}, {"", Align::left}, {"", Align::left}});
  const auto spread = [](Bytes b) {
    return b.value() > 0 ? fmt::format("+- {:.1f}", to_gib(b)) : std::string();
  };
  if (p.kv_given)
    t.row({"sum of the lines", size(p.budget), "", "kv_cache_memory_bytes sets the KV cache"});
  else if (p.fraction_flag.empty())
    t.row({"budget", size(p.budget), "", "the whole GPU"});
  else
    t.row({fmt::format("budget ({} {:g}{})", p.fraction_flag, p.fraction,
                       star(p, p.fraction_flag.c_str())),
           size(p.budget), "", ""});
  for (const planner::LedgerLine& l : p.ledger) {
    const bool remainder = l.name == "KV cache";
    t.row({fmt::format("{} {}",
                       remainder     ? "="
                       : l.in_budget ? "-"
                                     : " ",
                       l.name),
           size(l.bytes), spread(remainder ? p.kv_uncertainty : l.uncertainty), l.note});
  }
  if (p.shortfall.value() > 0)
    t.row({"! missing", size(p.shortfall), "", "the lines above exceed the budget"});
  return out + t.text(2);
}

std::string kv(const Plan& p) {
  std::string out = fmt::format("KV cache ({}{})\n", p.kv_dtype, star(p, "kv_cache_dtype"));
  Table t({{"", Align::left}, {"", Align::left}});
  t.row({"per token", fmt::format("{} on one GPU", token_size(p.bytes_per_token))});
  for (const planner::Group& g : p.groups) {
    std::string text = fmt::format("{} layers", g.layers);
    if (g.bytes_per_token > 0) text += fmt::format(", {} per token", token_size(g.bytes_per_token));
    if (g.window > 0) text += fmt::format(", window {}", format_integer(g.window));
    if (g.bytes_per_sequence > 0)
      text += fmt::format(", {} per sequence", token_size(g.bytes_per_sequence));
    t.row({"  " + g.name + " (" + g.attention + ")", text});
  }
  if (p.bytes_per_sequence > 0)
    t.row({"per sequence",
           token_size(p.bytes_per_sequence) + " constant" +
               (p.break_even_tokens > 0 ? fmt::format(", as much as {} tokens of the growing part",
                                                      format_integer(p.break_even_tokens))
                                        : "")});
  if (p.bytes_per_sequence_extra > 0)
    t.row({"", token_size(p.bytes_per_sequence_extra) + " of compressor state"});
  t.row({"capacity", fmt::format("{} tokens = {} blocks of {}{}", format_integer(p.tokens),
                                 format_integer(p.blocks), format_integer(p.block_tokens),
                                 star(p, "block_size"))});
  if (p.tokens_high > p.tokens_low)
    t.row({"", fmt::format("{} to {} if the estimates above are off by their +-",
                           format_integer(p.tokens_low), format_integer(p.tokens_high))});
  t.row({"fits", fmt::format("{:.2f} requests at {} tokens{}", p.max_concurrency,
                             format_integer(p.max_model_len), star(p, "max_model_len"))});
  if (!p.usable.note.empty())
    t.row({"usable in practice",
           fmt::format("{} tokens: {}", format_integer(p.usable.tokens), p.usable.note)});
  if (p.feasible.limit > 0) t.row({"lengths that start", feasible_text(p)});
  t.row({"engine says", p.engine_log.empty() ? "" : p.engine_log.front()});
  for (std::size_t i = 1; i < p.engine_log.size(); ++i) t.row({"", p.engine_log[i]});
  return out + t.text(2);
}

std::string point(const Plan& p, Glyphs glyphs) {
  const planner::Point& at = p.at;
  std::string out =
      fmt::format("Speed at context {}{}, batch {}{} ({})\n", format_integer(at.context),
                  star(p, "context"), format_integer(at.batch), star(p, "batch"), at.source);
  Table t({{"", Align::left}, {"", Align::left}});
  t.row({"KV of the batch", fmt::format("{} over all GPUs ({}){}", format_bytes(at.kv_bytes),
                                        format_bytes_decimal(at.kv_bytes),
                                        at.kv_fits ? "" : ", more than the pool holds")});
  const auto time = [](double ms) { return format_duration(to_duration(ms / 1e3)); };
  const auto range = [&](const planner::Range& r) {
    return r.low == r.high ? std::string() : fmt::format(" ({} to {})", time(r.low), time(r.high));
  };
  t.row({"prefill", fmt::format("{}{} for one prompt alone; {} binds", time(at.prefill_ms),
                                range(at.prefill_range), at.prefill_binds)});
  t.row({"decode step",
         fmt::format("{}{} = {} output tokens/s; {} binds", time(at.decode_ms),
                     range(at.decode_range), format_count(at.output_tokens_per_s), at.binds)});
  t.row({"intensity", fmt::format("{} flop/byte against a ridge of {}",
                                  format_significant(at.intensity), format_significant(at.ridge))});
  t.row({"source", at.source_note});
  std::vector<metrics::OperatorShare> parts;
  for (const planner::Operator& o : at.operators)
    parts.push_back({o.name, o.ms / 1e3, o.share, o.calls, o.binds, o.source});
  return out + t.text(2) + "  decode step by operator (in brackets above: 90 % of cases)\n" +
         operator_table(shortened(std::move(parts), 8), glyphs, 4);
}

std::string context_name(std::int64_t n) {
  return n >= 1 << 20 ? fmt::format("{}M", n >> 20) : fmt::format("{}k", n >> 10);
}

std::string explorer(const Plan& p) {
  std::vector<Table::Column> columns{{"KV dtype", Align::left}, {"bits", Align::right}};
  for (std::int64_t n : p.explorer.contexts) columns.push_back({context_name(n), Align::right});
  Table t(std::move(columns));
  for (const auto& row : p.explorer.rows) {
    std::vector<std::string> cells{row.kv_dtype, fmt::format("{:g}", row.bits)};
    for (std::int64_t n : row.requests) cells.push_back(format_integer(n));
    t.row(std::move(cells));
  }
  return "Requests that fit at once, by context length\n" + t.text(2);
}

std::string search_table(const Plan& p, const std::vector<planner::Candidate>& list) {
  Table t({{"TP", Align::right},
           {"PP", Align::right},
           {"DP", Align::right},
           {"KV", Align::left},
           {"batch", Align::right},
           {"decode", Align::right},
           {"tok/s/GPU", Align::right},
           {"tok/s/user", Align::right},
           {"", Align::left},
           {"held back by", Align::left}});
  for (const planner::Candidate& c : list) {
    const auto& q = c.plan;
    if (!c.fits)
      t.row({std::to_string(q.tensor_parallel_size), std::to_string(q.pipeline_parallel_size),
             std::to_string(q.data_parallel_size), c.kv_dtype, "-", "-", "-", "-", "no", c.why});
    else
      t.row({std::to_string(q.tensor_parallel_size), std::to_string(q.pipeline_parallel_size),
             std::to_string(q.data_parallel_size), c.kv_dtype, format_integer(c.batch),
             format_duration(to_duration(c.decode_ms / 1e3)), format_count(c.tokens_per_s_per_gpu),
             format_significant(c.tokens_per_s_per_user), c.pareto ? "best" : "", c.why});
  }
  std::int64_t context = 0;
  std::size_t fitting = 0;
  for (const planner::Candidate& c : list) {
    context = std::max(context, c.context);
    fitting += c.fits ? 1 : 0;
  }
  std::string title = fmt::format("Deployments on {} GPUs by output tokens per second and GPU",
                                  list.front().plan.gpus());
  if (context > 0)
    title += fmt::format(", requests of {} tokens{}", format_integer(context), star(p, "context"));
  title +=
      fmt::format("; {} of {} fit (best: nobody is better in both rates)", fitting, list.size());
  return wrap(title, 100, 2) + t.text(2);
}

}  // namespace

std::string plan_text(const Plan& p, const std::vector<planner::Candidate>& search, Glyphs glyphs) {
  std::string out = p.from_command ? from_command_text(*p.from_command) + "\n"
                    : p.from_log   ? from_log_text(p) + "\n"
                                   : "";
  out += ledger(p) + "\n" + kv(p) + "\n" + point(p, glyphs) + "\n" + explorer(p);
  out += questions_text(p);
  if (!search.empty()) out += "\n" + search_table(p, search);
  if (!p.warnings.empty()) out += "\n";
  for (const std::string& w : p.warnings) out += wrap("warning: " + w, 100, 2);
  out += "\n" + wrap(fmt::format("Plan{}: {}. Limit: {}.", search.empty() ? "" : " as given",
                                 p.fits ? "fits" : "does not fit", p.limit),
                     100, 2);
  out += binding_text(p);
  if (!p.advice.empty()) {
    Table t({{"", Align::left}, {"", Align::left}});
    for (const planner::Advice& a : p.advice) t.row({settings_text(a), a.gain});
    out += p.fits ? "To hold more\n" : "To make it fit\n";
    out += t.text(2);
  }
  out += smallest_text(p);
  return out + "* default\n";
}

}  // namespace kvsim::report
