#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/chart_js.h"
#include "report/exporter.h"
#include "report/json_layout.h"
#include "report/operators.h"
#include "report/plot.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using namespace metrics;
using Json = nlohmann::ordered_json;

constexpr std::string_view style_sheet = R"(
body{font:15px/1.5 system-ui,sans-serif;max-width:920px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
h1{font-size:1.5em;margin-bottom:0}h2{font-size:1.1em;margin-top:2em}
table{border-collapse:collapse;margin:.5em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}.verdict{border-left:4px solid #1f6feb;padding:.4em 1em;background:#f4f8ff}
.overload{border-color:#c62828;background:#fff4f4}pre{background:#f6f6f6;padding:1em;overflow:auto;max-height:30em}
.bar{text-align:left}.bar span{display:inline-block;height:.8em;background:#1f6feb}
svg{width:100%;height:auto}svg text{font-size:12px;fill:#555}svg .grid{stroke:#e4e4e4}polyline{stroke-width:1.6}
)";

std::string row(const std::vector<std::string>& cells, std::string_view tag = "td") {
  std::string out = "<tr>";
  for (const std::string& cell : cells) out += fmt::format("<{0}>{1}</{0}>", tag, html_text(cell));
  return out + "</tr>\n";
}

std::string latency_table(const Summary& s) {
  std::vector<std::string> head{"", "mean", "std"};
  for (const double level : s.percentile_levels) head.push_back("p" + percentile_word(level));
  const bool bounded = s.low && s.high;
  if (bounded) head.emplace_back("mean, 90 % of cases");
  std::string out = "<table>\n" + row(head, "th");
  const auto line = [&](const char* name, Distribution Figures::*which) {
    const Distribution& d = s.*which;
    const auto ms = [](double value) { return format_duration(to_duration(value / 1e3)); };
    std::vector<std::string> cells{name, ms(d.mean), ms(d.std)};
    for (const double value : d.percentiles) cells.push_back(ms(value));
    if (bounded)
      cells.push_back(fmt::format("{} to {}", ms((*s.low.*which).mean), ms((*s.high.*which).mean)));
    out += row(cells);
  };
  line("Time to first token", &Figures::ttft_ms);
  line("Time per output token", &Figures::tpot_ms);
  line("Gap between tokens", &Figures::itl_ms);
  line("End to end", &Figures::e2el_ms);
  return out + "</table>\n";
}

std::string figures(const RunResult& r) {
  const Summary& s = r.summary;
  const auto optional = [](const std::optional<double>& value, const std::string& unit) {
    return value ? format_significant(*value) + unit : std::string("not given");
  };
  const auto percent = [](double ratio) { return format_significant(ratio * 100) + " %"; };
  const auto between = [&](auto Figures::*which) {
    if (!s.low || !s.high) return std::string();
    return fmt::format(" ({} to {} in 90 % of cases)", format_count(*s.low.*which),
                       format_count(*s.high.*which));
  };
  std::string out = "<table>\n";
  out += row({"Requests completed / failed",
              format_integer(s.completed) + " / " + format_integer(s.failed)});
  out += row({"Simulated time", format_duration(to_duration(s.duration))});
  out += row({"Request throughput", format_count(s.request_throughput) + " per s" +
                                        between(&Figures::request_throughput)});
  out += row({"Offered rate", optional(s.offered_rate, " per s")});
  out += row({"Goodput", optional(s.request_goodput, " per s")});
  out += row({"Output tokens",
              format_count(s.output_throughput) + " per s" + between(&Figures::output_throughput)});
  out += row({"Tokens in all", format_count(s.total_token_throughput) + " per s"});
  out += row({"KV blocks, peak in use",
              format_integer(r.kv.total_blocks) + ", " + percent(r.kv.peak_used_ratio)});
  out += row({"Prefix hits, tokens / full blocks",
              percent(r.kv.prefix_hit_rate_tokens) + " / " + percent(r.kv.prefix_hit_rate_blocks)});
  out += row({"Evicted blocks", format_integer(r.kv.evicted_blocks)});
  out += row({"Preemptions", format_integer(r.kv.preemptions)});
  out += row({"GPU hours", format_count(r.cost.gpu_hours)});
  out += row(
      {"US dollars per million output tokens", optional(r.cost.usd_per_million_output_tokens, "")});
  out += row({"GPU energy (estimate, +-25 %)", optional(r.cost.energy_wh, " Wh")});
  out += row({"The same per million output tokens",
              optional(r.cost.energy_wh_per_million_output_tokens, " Wh")});
  return out + "</table>\n";
}

std::string engines_table(const RunResult& r) {
  std::string out = "<table>\n" + row({"Engine", "rules", "GPUs", "steps", "busy", "completed",
                                       "KV peak", "preemptions"},
                                      "th");
  for (const EngineResult& e : r.engines) {
    const double busy = r.summary.duration > 0 ? e.busy_s / r.summary.duration : 0;
    out += row({e.data_parallel_rank > 0
                    ? fmt::format("{} {} rank {}", e.pool, e.replica, e.data_parallel_rank)
                    : fmt::format("{} {}", e.pool, e.replica),
                e.rules, fmt::format("{} x {}", e.gpus, e.gpu), format_integer(e.steps),
                fmt::format("{:.0f} %", busy * 100), format_integer(e.completed),
                fmt::format("{:.0f} %", e.peak_used_ratio * 100), format_integer(e.preemptions)});
  }
  return out + "</table>\n";
}

std::string operators_table(const RunResult& r, const EngineResult& first) {
  std::string out =
      "<table>\n" + row({"Operator", "share", "seconds", "calls", "binds", "source", ""}, "th");
  const auto operators = pool_operators(r, first.pool_index);
  const double longest = operators.empty() ? 0 : operators.front().share_ratio;
  for (const OperatorShare& op : operators) {
    std::string line =
        row({op.name, fmt::format("{:.1f} %", 100 * op.share_ratio), format_significant(op.seconds),
             format_integer(op.calls), op.binds, op.source});
    const double width = longest > 0 ? 12 * op.share_ratio / longest : 0;
    line.insert(
        line.rfind("</tr>"),
        fmt::format("<td class=\"bar\"><span style=\"width:{:.2f}em\"></span></td>", width));
    out += line;
  }
  return out + "</table>\n";
}

// What steps consist of, by pool.
std::string operators_section(const RunResult& r) {
  std::string out;
  for (const EngineResult& e : r.engines) {
    if (!e.first_of_pool() || e.operators.empty()) continue;
    out += fmt::format(
        "<h2>Steps of {}</h2>\n<p>{}. In 90 % of cases steps take {:.3g} to {:.3g} times as "
        "long.</p>\n",
        html_text(e.pool), html_text(e.cost_note), e.step_time_low_ratio, e.step_time_high_ratio);
    out += operators_table(r, e);
  }
  return out;
}

std::vector<Plot> plots(const RunResult& r) {
  std::vector<double> used = r.series.kv_used_ratio;
  for (double& value : used) value *= 100;
  return {
      {"KV blocks held by requests", "%", r.series.width_s, 100, {{"KV used, %", "#1f6feb", used}}},
      {"Requests",
       "requests",
       r.series.width_s,
       0,
       {{"running", "#2e7d32", r.series.running}, {"waiting", "#c62828", r.series.waiting}}}};
}

// Replaces each SVG by an interactive chart of the same curves.
std::string script(const std::vector<Plot>& list) {
  if (chart_js().empty()) return {};
  Json data = Json::array();
  for (const Plot& plot : list) {
    Json curves = Json::array();
    for (const Curve& c : plot.curves) {
      Json points = Json::array();
      for (std::size_t i = 0; i < c.values.size(); ++i)
        points.push_back({(static_cast<double>(i) + 0.5) * plot.width_s, c.values[i]});
      curves.push_back({{"label", c.name}, {"color", c.color}, {"points", std::move(points)}});
    }
    data.push_back({{"unit", plot.unit}, {"top", plot.top}, {"curves", std::move(curves)}});
  }
  return fmt::format("<script>{}</script>\n<script>\nconst plots={};\n{}</script>\n", chart_js(),
                     data.dump(-1, ' ', false, Json::error_handler_t::replace), R"(
plots.forEach((p,i)=>{const box=document.getElementById('plot'+i),canvas=document.createElement('canvas');
box.replaceChildren(canvas);canvas.height=90;new Chart(canvas,{type:'line',data:{datasets:p.curves.map(c=>({label:c.label,
borderColor:c.color,borderWidth:1.5,pointRadius:0,data:c.points.map(q=>({x:q[0],y:q[1]}))}))},options:{animation:false,
interaction:{mode:'index',intersect:false},scales:{x:{type:'linear',title:{display:true,text:'simulated seconds'}},
y:{min:0,max:p.top||undefined,title:{display:true,text:p.unit}}}}});});
)");
}

}  // namespace

std::string render_html(const RunResult& r, const Style& style) {
  const std::string name = r.name.empty() ? "run" : r.name;
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>kvsim: "
      "{0}</title><style>{1}</style></head><body>\n"
      "<h1>{0}</h1><p>{2}</p>\n",
      html_text(name), style_sheet, html_text(r.purpose));
  if (!r.complete)
    out += "<p><strong>Interrupted: these figures are of a part of the run.</strong></p>\n";
  const Verdict& v = r.verdict;
  out += fmt::format("<p class=\"verdict\"><strong>{}.</strong> {}. {}</p>\n",
                     html_text(v.binds.ends_with('s') ? v.binds + " bind" : v.binds + " binds"),
                     html_text(v.sentence),
                     html_text(v.lever.empty() ? v.lever : "Lever: " + v.lever + "."));
  if (v.overload && v.overload->overloaded) {
    out += fmt::format("<p class=\"verdict overload\"><strong>Overload.</strong> {}.</p>\n",
                       html_text(v.overload->sentence));
  }
  out += "<h2>Latency</h2>\n" + latency_table(r.summary) + "<h2>Figures</h2>\n" + figures(r);
  const std::vector<Plot> list = plots(r);
  for (std::size_t i = 0; i < list.size(); ++i) {
    out += fmt::format("<h2>{}</h2>\n<div id=\"plot{}\">{}</div>\n", html_text(list[i].title), i,
                       svg(list[i]));
  }
  out += operators_section(r) + "<h2>Engines</h2>\n" + engines_table(r);
  for (const std::string& warning : r.warnings)
    out += fmt::format("<p>Note: {}</p>\n", html_text(warning));
  out += fmt::format("<h2>Scenario (behaviour {})</h2>\n<pre>{}</pre>\n", r.behaviour_number,
                     html_text(layout(r.scenario_json.empty() ? "{}" : r.scenario_json)));
  out += fmt::format(
      "<p>Save the scenario and run <code>kvsim run {} --html report.html</code> to get this page "
      "again.</p>\n",
      html_text(style.scenario));
  return out + script(list) + "</body></html>\n";
}

}  // namespace kvsim::report
