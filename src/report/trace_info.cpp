#include "report/trace_info.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/json_layout.h"
#include "report/table.h"
#include "report/wrap.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using nlohmann::ordered_json;
using workload::LengthSummary;
using workload::TraceInfo;

ordered_json lengths(const LengthSummary& s, std::int64_t total) {
  return {{"total", total}, {"mean", s.mean}, {"p50", s.p50},
          {"p90", s.p90},   {"p99", s.p99},   {"max", s.max}};
}

std::string whole(double x) { return format_integer(std::llround(x)); }

}  // namespace

std::string trace_info_json(const TraceInfo& info, std::string_view format) {
  ordered_json out{{"schema", trace_schema},
                   {"format", format},
                   {"requests", info.requests},
                   {"followers", info.followers},
                   {"sessions", info.sessions},
                   {"input_tokens", lengths(info.input, info.input_tokens)},
                   {"output_tokens", lengths(info.output, info.output_tokens)}};
  if (const auto& a = info.arrivals)
    out["arrivals"] = {{"span_s", a->span_s},           {"rate_per_s", a->rate},
                       {"gap_cv", a->gap_cv},           {"peak_1s_per_s", a->peak_1s},
                       {"peak_10s_per_s", a->peak_10s}, {"peak_60s_per_s", a->peak_60s}};
  else
    out["arrivals"] = nullptr;
  out["block_tokens"] = info.block_tokens;
  out["blocks"] = info.blocks;
  out["distinct_blocks"] = info.distinct_blocks;
  out["prefix_reuse"] = {{"blocks", info.reuse.blocks},
                         {"tokens", info.reuse.tokens},
                         {"full_blocks", info.reuse.full_blocks}};
  ordered_json curve = ordered_json::array();
  for (const TraceInfo::Point& point : info.curve)
    curve.push_back(
        {{"capacity_blocks", point.capacity_blocks}, {"hit_rate_blocks", point.hit_rate}});
  out["capacity_curve"] = std::move(curve);
  out["notes"] = info.notes;
  return layout(out.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

std::string trace_info_text(const TraceInfo& info, std::string_view format) {
  std::string out = fmt::format("{} requests, format {}", format_integer(info.requests), format);
  if (info.sessions > 0) out += fmt::format(", {} sessions", format_integer(info.sessions));
  if (info.followers > 0) out += fmt::format(", {} follow others", format_integer(info.followers));
  out += "\n\n";

  Table lengths_table({{"tokens"},
                       {"mean", Align::right},
                       {"p50", Align::right},
                       {"p90", Align::right},
                       {"p99", Align::right},
                       {"max", Align::right},
                       {"total", Align::right}});
  const auto row = [&](const char* name, const LengthSummary& s, std::int64_t total) {
    lengths_table.row({name, whole(s.mean), whole(s.p50), whole(s.p90), whole(s.p99),
                       format_integer(s.max), format_integer(total)});
  };
  row("input", info.input, info.input_tokens);
  row("output", info.output, info.output_tokens);
  out += lengths_table.text();

  if (info.arrivals && info.arrivals->span_s == 0)
    out += "\narrivals  all at the start\n";
  else if (const auto& a = info.arrivals)
    out += fmt::format(
        "\narrivals  {:.3g}/s over {}; gaps vary by {:.2f} of their mean (1 = Poisson); peak "
        "{:.3g}/s in 1 s, {:.3g}/s in 10 s, {:.3g}/s in 60 s\n",
        a->rate, format_duration(to_duration(a->span_s)), a->gap_cv, a->peak_1s, a->peak_10s,
        a->peak_60s);
  else
    out += "\narrivals  none in the trace\n";

  out += fmt::format(
      "\nprefix reuse in blocks of {} tokens, one shared cache: {} blocks, {} distinct{}\n",
      info.block_tokens, format_integer(info.blocks), format_integer(info.distinct_blocks),
      format == "kvsim" ? " with outputs" : "");
  out += fmt::format("  without limit  {:.4f} of blocks, {:.4f} of tokens, {:.4f} of full blocks\n",
                     info.reuse.blocks, info.reuse.tokens, info.reuse.full_blocks);
  if (!info.curve.empty() && info.reuse.blocks > 0) {
    Table curve({{"cache, blocks", Align::right},
                 {"cache, tokens", Align::right},
                 {"blocks found", Align::right}});
    for (const TraceInfo::Point& p : info.curve)
      curve.row({format_integer(p.capacity_blocks),
                 format_integer(p.capacity_blocks * info.block_tokens),
                 fmt::format("{:.3f}", p.hit_rate)});
    out += curve.text(2);
  }
  for (const std::string& note : info.notes) out += wrap("note: " + note, 100, 6);
  return out;
}

}  // namespace kvsim::report
