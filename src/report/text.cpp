#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "report/exporter.h"
#include "report/operators.h"
#include "report/sparkline.h"
#include "report/wrap.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using namespace metrics;

constexpr std::size_t columns = 99;

std::string ms(double value) { return format_duration(to_duration(value / 1e3)); }
std::string whole(double value) { return format_integer(std::llround(value)); }
std::string percent(double ratio) { return format_significant(ratio * 100) + " %"; }
std::string rate(double value, std::string_view unit) {
  return fmt::format("{} {}", format_count(value), unit);
}

std::string latency_table(const Summary& s) {
  std::string out = fmt::format("{:8}{:>11}{:>11}", "", "mean", "std");
  // A table of 99 columns has room for six percentiles.
  const std::size_t shown = std::min<std::size_t>(s.percentile_levels.size(), 6);
  for (std::size_t i = 0; i < shown; ++i)
    out += fmt::format("{:>11}", "p" + percentile_word(s.percentile_levels[i]));
  out += '\n';
  const auto row = [&](const char* name, const Distribution& d) {
    out += fmt::format("  {:6}{:>11}{:>11}", name, ms(d.mean), ms(d.std));
    for (std::size_t i = 0; i < shown; ++i) out += fmt::format("{:>11}", ms(d.percentiles[i]));
    out += '\n';
  };
  row("TTFT", s.ttft_ms);
  row("TPOT", s.tpot_ms);
  row("ITL", s.itl_ms);
  row("E2E", s.e2el_ms);
  return out;
}

std::string throughput(const Summary& s) {
  std::string out = fmt::format(
      "  {:12}{}   {}   {}", "throughput", rate(s.request_throughput, "req/s"),
      rate(s.output_throughput, "output tok/s"), rate(s.total_token_throughput, "total tok/s"));
  if (s.offered_rate) out += fmt::format("   offered {}", rate(*s.offered_rate, "req/s"));
  out += '\n';
  if (s.request_goodput) {
    const double share = s.request_throughput > 0 ? *s.request_goodput / s.request_throughput : 0;
    out += fmt::format("  {:12}{} ({} of completed requests keep the SLO)\n", "goodput",
                       rate(*s.request_goodput, "req/s"), percent(share));
  }
  return out;
}

// Pieces three blanks apart, on as many lines as they take; the first line starts with `name`.
std::string in_columns(std::string_view name, const std::vector<std::string>& pieces) {
  std::string out, line = fmt::format("  {:9}", name);
  const std::size_t start = line.size();
  for (const std::string& piece : pieces) {
    if (line.size() + 3 + piece.size() > columns && line.size() > start) {
      out += line + '\n';
      line.assign(start, ' ');
    }
    line += "   " + piece;
  }
  return out + line + '\n';
}

// Between which values nine cases in ten lie; nothing where that is one value.
std::string interval_lines(const RunResult& r) {
  const Summary& s = r.summary;
  if (!r.intervals || !s.low || !s.high) return {};
  const Figures &low = *s.low, &high = *s.high;
  if (low.duration == high.duration && low.e2el_ms.mean == high.e2el_ms.mean) return {};
  const auto span = [](const std::string& from, const std::string& to) {
    return from == to ? from : fmt::format("{} to {}", from, to);
  };
  std::vector<std::string> pieces;
  const auto latency = [&](const char* name, double from, double to) {
    pieces.push_back(fmt::format("{} {}", name, span(ms(from), ms(to))));
  };
  latency("mean TTFT", low.ttft_ms.mean, high.ttft_ms.mean);
  for (std::size_t i = 0; i < s.percentile_levels.size(); ++i)
    if (s.percentile_levels[i] == 99)
      latency("p99", low.ttft_ms.percentiles[i], high.ttft_ms.percentiles[i]);
  latency("mean TPOT", low.tpot_ms.mean, high.tpot_ms.mean);
  const auto count = [&](double from, double to, std::string_view unit) {
    pieces.push_back(fmt::format("{} {}", span(format_count(from), format_count(to)), unit));
  };
  count(low.output_throughput, high.output_throughput, "output tok/s");
  if (low.request_goodput && high.request_goodput)
    count(*low.request_goodput, *high.request_goodput, "good req/s");
  pieces.push_back(r.intervals->seeds > 1 ? fmt::format("(90 %, {} seeds)", r.intervals->seeds)
                                          : std::string("(90 %)"));
  return in_columns("interval", pieces);
}

std::string kv_lines(const RunResult& r, const Style& style) {
  const KvSummary& kv = r.kv;
  std::string out =
      fmt::format("KV  {} blocks, peak {}   prefix hits {} of tokens, {} of blocks\n",
                  format_integer(kv.total_blocks), percent(kv.peak_used_ratio),
                  percent(kv.prefix_hit_rate_tokens), percent(kv.prefix_hit_rate_blocks));
  out += fmt::format("    {} evictions   {} preemptions ({} tokens lost)\n",
                     format_integer(kv.evicted_blocks), format_integer(kv.preemptions),
                     format_integer(kv.preempted_tokens));
  if (r.series.kv_used_ratio.size() < 2) return out;
  const auto line = [&](const char* name, const std::vector<double>& values, double top,
                        const std::string& note) {
    const std::vector<double> few = resample(values, 60);
    out += fmt::format("    {:9}{}  {}\n", name, sparkline(few, top, style.glyphs), note);
  };
  const auto largest = [](const std::vector<double>& v) {
    return v.empty() ? 0.0 : *std::max_element(v.begin(), v.end());
  };
  line("KV used", r.series.kv_used_ratio, 1, "of 100 %");
  line("running", r.series.running, 0, fmt::format("up to {}", whole(largest(r.series.running))));
  if (const double most = largest(r.series.waiting); most > 0) {
    line("waiting", r.series.waiting, 0, fmt::format("up to {}", whole(std::ceil(most))));
  }
  return out;
}

// What fills the KV memory that requests wait for; the first engine stands for its pool.
std::string waste_lines(const RunResult& r) {
  std::string out;
  for (const EngineResult& e : r.engines) {
    if (!e.first_of_pool() || !e.kv_waste.under_pressure) continue;
    const KvShares& s = *e.kv_waste.under_pressure;
    out += wrap(
        fmt::format("    KV of {} while requests wait for it ({} of busy time, {} run): "
                    "{} token states, {} reserved, {} internal, {} external fragmentation",
                    e.pool, percent(e.kv_waste.pressure_ratio), format_significant(s.mean_running),
                    percent(s.token_states_ratio), percent(s.reserved_ratio),
                    percent(s.internal_ratio), percent(s.external_ratio)),
        columns, 8);
  }
  return out;
}

// Shares of its busy time by source of the operators' times.
std::string provenance(const EngineResult& e) {
  std::string out;
  for (const auto& [ratio, name] : {std::pair{e.measured_ratio, "measured"},
                                    {e.fitted_ratio, "fitted"},
                                    {e.datasheet_ratio, "from the data sheet"}})
    if (ratio > 0) out += fmt::format("{}{:.0f} % {}", out.empty() ? "" : ", ", 100 * ratio, name);
  if (e.outside_range_ratio > 0)
    out += fmt::format(", {:.0f} % outside the calibrated range", 100 * e.outside_range_ratio);
  return out;
}

// One line for the engines of a pool: they are alike.
std::string pools(const RunResult& r) {
  std::map<int, int> engines;
  for (const EngineResult& e : r.engines) ++engines[e.pool_index];
  std::string out;
  for (const EngineResult& e : r.engines) {
    if (!e.first_of_pool()) continue;
    const int count = engines[e.pool_index];
    std::string line =
        fmt::format("Pool {}: {} x {}", e.pool, count, e.rules.empty() ? e.profile : e.rules);
    if (!e.model.empty()) line += fmt::format(", {} on {} x {}", e.model, e.gpus, e.gpu);
    line += fmt::format(", {} blocks of {} tokens each", format_integer(e.total_blocks),
                        e.block_tokens);
    if (!e.cost_note.empty()) line += fmt::format("; step time: {}", e.cost_note);
    out += wrap(line, columns, 4);
  }
  return out;
}

// What the steps of each pool consist of.
std::string operator_lines(const RunResult& r, const Style& style) {
  std::string out;
  for (const EngineResult& e : r.engines) {
    if (!e.first_of_pool() || e.constant_s > 0) continue;
    const auto operators = shortened(pool_operators(r, e.pool_index), 8);
    if (operators.empty()) continue;
    double busy = 0;
    for (const OperatorShare& op : operators) busy += op.seconds;
    out +=
        wrap(fmt::format(
                 "Steps of {}: {} in all, each {:.3g} to {:.3g} times as long in 90 % of cases; {}",
                 e.pool, format_duration(to_duration(busy)), e.step_time_low_ratio,
                 e.step_time_high_ratio, provenance(e)),
             columns, 4);
    out += operator_table(operators, style.glyphs, 4);
  }
  return out;
}

std::string money(const Cost& c) {
  std::string out = fmt::format("Cost  {} GPU hours", format_count(c.gpu_hours));
  if (c.usd_per_million_output_tokens) {
    out += fmt::format("   ${} per million output tokens",
                       format_count(*c.usd_per_million_output_tokens));
  }
  if (c.usd_per_million_total_tokens) {
    out += fmt::format("   ${} per million tokens in all",
                       format_count(*c.usd_per_million_total_tokens));
  }
  out += '\n';
  if (!c.energy_wh) return out;
  out += fmt::format("Energy  {} Wh of the GPUs (estimate, +-25 %)", format_count(*c.energy_wh));
  if (c.energy_wh_per_million_output_tokens)
    out += fmt::format("   {} Wh per million output tokens",
                       format_count(*c.energy_wh_per_million_output_tokens));
  return out + '\n';
}

// As a shell takes it: in single quotes where it holds more than plain characters.
std::string shell_word(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=.,:/@%").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

// The same run with the lever pulled: what the user set stays, but for the lever's own field.
std::string next_command(const Style& style, const std::string& lever) {
  const std::string path = lever.substr(0, lever.find('=') + 1);
  std::string out = "kvsim run " + shell_word(style.scenario);
  if (style.seed) out += fmt::format(" --seed {}", *style.seed);
  for (const std::string& set : style.sets)
    if (!set.starts_with(path)) out += " --set " + shell_word(set);
  return out + " --set " + shell_word(lever);
}

std::string verdict(const RunResult& r, const Style& style) {
  const Verdict& v = r.verdict;
  std::string out;
  if (v.overload && v.overload->overloaded)
    out += wrap("Overload: " + v.overload->sentence + ".", columns, 4);
  std::string text = "Verdict: ";
  if (!r.complete) text += "interrupted, so these figures are of a part of the run. ";
  text += v.binds == "nothing" ? fmt::format("nothing binds: {}.", v.sentence)
                               : fmt::format("{} {}: {}.", v.binds,
                                             v.binds.ends_with('s') ? "bind" : "binds", v.sentence);
  if (!v.lever.empty()) text += fmt::format(" Lever: {}.", v.lever);
  out += wrap(text, columns, 4);
  if (!v.set.empty()) out += fmt::format("    Try: {}\n", next_command(style, v.set));
  return out;
}

}  // namespace

std::string render_text(const RunResult& r, const Style& style) {
  const Summary& s = r.summary;
  std::string out =
      wrap(fmt::format(
               "{}: {} requests completed in {} simulated (seed {}); {} input and {} output tokens",
               r.name.empty() ? "run" : r.name, format_integer(s.completed),
               format_duration(to_duration(s.duration)), r.seed,
               whole(static_cast<double>(s.total_input_tokens)),
               whole(static_cast<double>(s.total_output_tokens))),
           columns, 4);
  out += latency_table(s);
  out += throughput(s);
  out += interval_lines(r);
  out += kv_lines(r, style);
  out += waste_lines(r);
  out += pools(r);
  out += operator_lines(r, style);
  out += money(r.cost);
  if (s.failed > 0) {
    out += fmt::format("Failed: {} requests\n", format_integer(s.failed));
    for (std::size_t i = 0; i < r.failures.size() && i < 3; ++i) {
      out += wrap(fmt::format("  {}: {}", r.failures[i].id, r.failures[i].reason), columns, 6);
    }
  }
  for (const std::string& warning : r.warnings) out += wrap("Note: " + warning, columns, 4);
  for (const std::string& line : style.checks) out += wrap(line, columns, 8);
  return out + verdict(r, style);
}

}  // namespace kvsim::report
