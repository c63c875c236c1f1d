#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "cli/commands/makers.h"
#include "cli/progress.h"
#include "config/document.h"
#include "config/output_file.h"
#include "report/exporter.h"
#include "report/table.h"
#include "scenario/sweep.h"
#include "units/format.h"
#include "units/parse.h"

namespace kvsim::cli {
namespace {

std::string last_step(const std::string& path) { return path.substr(path.find_last_of("./") + 1); }

class Sweep final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.positional("SCENARIO", scenario_, "scenario file").require().completes(Complete::file);
    flags
        .option("--vary", vary_,
                "a field and its values: path=a,b,c or path=low:high:step; repeat it for a grid")
        .value("PATH=VALUES");
    flags.option("--jobs,-j", jobs_, "simulations at a time; unset: one per processor")
        .value("N")
        .range(config::between(1, 1024));
    flags.flag("--intervals", intervals_,
               "simulate each point twice more, with step times at both ends of their error; in "
               "the JSON document");
    flags.option("--shard", shard_, "i/n: only the points whose number modulo n is i, from 0")
        .value("I/N");
    flags.option("--csv", csv_, "one row per point").value("FILE").completes(Complete::file);
    flags.example("kvsim sweep s.json --vary cluster.pools.0.replicas=1,2,4",
                  "how many replicas this traffic needs");
    flags.example("kvsim sweep s.json --vary seed=1:8:1 --json", "the spread between seeds");
  }

  Exit run(Context& context) override {
    std::vector<scenario::Axis> axes;
    for (const std::string& text : vary_) {
      std::string problem;
      if (!scenario::parse_axis(text, axes.emplace_back(), problem))
        throw UsageError("--vary: " + problem, "as in --vary cluster.pools.0.replicas=1,2,4",
                         "usage-vary");
    }
    if (axes.empty())
      throw UsageError("a sweep needs at least one --vary path=values", {}, "usage-vary");
    scenario::SweepOptions options;
    for (const Override& o : context.globals().overrides)
      options.overrides.push_back({o.path, o.value});
    options.seed = context.globals().seed;
    options.jobs =
        jobs_.value_or(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    options.intervals = intervals_;
    read_shard(options);
    options.stop = &interrupt_flag();
    for (const scenario::Axis& axis : axes)
      if (axis.path == "seed" && options.seed)
        throw UsageError("--seed and --vary seed= both set the seed", "drop one of them",
                         "usage-vary");
    if (csv_ == "-" && context.output().is_stdout())
      throw UsageError("--csv - and the result both want stdout", "give one of them a file",
                       "usage-stdout");
    // Opened before any work, so that a folder that cannot be written is found out at once.
    std::optional<config::OutputFile> table;
    if (!csv_.empty()) table.emplace(csv_);
    Progress progress(context, "sweep");
    options.progress = [&](std::size_t done, std::size_t all) {
      progress.update(static_cast<double>(done) / static_cast<double>(all));
    };

    const spec::Catalog catalog(context.catalog_folders());
    const auto points = scenario::sweep(scenario_, catalog, axes, options);
    const bool complete = !interrupt_flag().load();
    context.print(context.json() ? json(axes, points, complete) : text(axes, points));
    if (table) {
      table->write(csv(axes, points));
      table->commit();
    }
    if (!complete) return context.interrupted();
    const bool all_refused =
        std::ranges::none_of(points, [](const auto& p) { return p.result.has_value(); });
    if (all_refused && !points.empty()) {
      context.report({refusal(points.front())});
      return Exit::input;
    }
    return Exit::ok;
  }

 private:
  void read_shard(scenario::SweepOptions& options) const {
    if (shard_.empty()) return;
    const auto slash = shard_.find('/');
    const auto index = parse_integer(shard_.substr(0, slash));
    const auto count =
        slash == std::string::npos ? std::nullopt : parse_integer(shard_.substr(slash + 1));
    if (!index || !count || *count < 1 || *index < 0 || *index >= *count)
      throw UsageError(fmt::format("--shard {}: expected i/n with 0 <= i < n", shard_), {},
                       "usage-shard");
    options.shard = static_cast<std::size_t>(*index);
    options.shards = static_cast<std::size_t>(*count);
  }

  Diagnostic refusal(const scenario::SweepPoint& point) const {
    Diagnostic d;
    d.code = "sweep-refused", d.file = scenario_;
    d.message = "no point of the sweep can be simulated; the first says: " + point.error;
    return d;
  }

  std::string text(const std::vector<scenario::Axis>& axes,
                   const std::vector<scenario::SweepPoint>& points) const {
    std::vector<report::Table::Column> columns;
    for (const scenario::Axis& axis : axes)
      columns.push_back({last_step(axis.path), report::Align::right});
    for (const char* title :
         {"TTFT p50 ms", "p99 ms", "TPOT p99 ms", "out tok/s", "goodput/s", "KV peak", "binds"})
      columns.push_back({title, report::Align::right});
    report::Table table(std::move(columns));
    std::string refusals;
    const scenario::SweepPoint* best = nullptr;
    for (const scenario::SweepPoint& point : points) {
      std::vector<std::string> cells = point.values;
      if (!point.result) {
        cells.emplace_back("refused");
        refusals += fmt::format("refused {}: {}\n", settings(axes, point), point.error);
        cells.resize(axes.size() + 7);
      } else {
        const metrics::Summary& s = point.result->summary;
        cells.insert(cells.end(), {at(s, s.ttft_ms, 50), at(s, s.ttft_ms, 99), at(s, s.tpot_ms, 99),
                                   format_count(s.output_throughput),
                                   s.request_goodput ? format_significant(*s.request_goodput) : "-",
                                   fmt::format("{:.0f} %", 100 * point.result->kv.peak_used_ratio),
                                   point.result->verdict.binds});
        if (!best || goodness(point) > goodness(*best)) best = &point;
      }
      table.row(std::move(cells));
    }
    std::string out = table.text() + refusals;
    if (best) out += best_line(axes, points, *best) + "\n";
    return out;
  }

  // Which point is best, among how many, and whether that is a choice at all.
  static std::string best_line(const std::vector<scenario::Axis>& axes,
                               const std::vector<scenario::SweepPoint>& points,
                               const scenario::SweepPoint& best) {
    const auto simulated =
        std::ranges::count_if(points, [](const auto& p) { return p.result.has_value(); });
    const auto refused = std::ssize(points) - simulated;
    const auto equal = std::ranges::count_if(points, [&](const auto& p) {
      return p.result && shown_goodness(p) == shown_goodness(best);
    });
    const std::string refusals =
        refused == 0 ? "" : fmt::format("{} of {} points refused", refused, points.size());
    if (simulated == 1 && refused > 0)
      return fmt::format("Only {} can be simulated: {}", settings(axes, best), refusals);
    const char* measure = best.result->summary.request_goodput ? "goodput" : "output throughput";
    if (simulated > 1 && equal == simulated)
      return fmt::format("No best by {}: all {} simulated points have {}/s{}", measure, simulated,
                         shown_goodness(best), refusals.empty() ? "" : " (" + refusals + ")");
    std::string remarks = refusals;
    if (equal > 1)
      remarks += fmt::format("{}{} more as good", remarks.empty() ? "" : ", ", equal - 1);
    return fmt::format("Best by {}: {}{}", measure, settings(axes, best),
                       remarks.empty() ? "" : " (" + remarks + ")");
  }

  static std::string at(const metrics::Summary& s, const metrics::Distribution& d, double level) {
    for (std::size_t i = 0; i < s.percentile_levels.size(); ++i)
      if (s.percentile_levels[i] == level && i < d.percentiles.size())
        return format_significant(d.percentiles[i]);
    return "-";
  }
  static double goodness(const scenario::SweepPoint& p) {
    return p.result->summary.request_goodput.value_or(p.result->summary.output_throughput);
  }
  // As the table has it: a difference that it does not show is none to choose by.
  static std::string shown_goodness(const scenario::SweepPoint& p) {
    const metrics::Summary& s = p.result->summary;
    return s.request_goodput ? format_significant(*s.request_goodput)
                             : format_count(s.output_throughput);
  }
  static std::string settings(const std::vector<scenario::Axis>& axes,
                              const scenario::SweepPoint& p) {
    std::string out;
    for (std::size_t i = 0; i < axes.size(); ++i)
      out += fmt::format("{}--set {}={}", i ? " " : "", axes[i].path, p.values[i]);
    return out;
  }

  // kvsim.sweep/1: the grid, and each point with its whole result document.
  static std::string json(const std::vector<scenario::Axis>& axes,
                          const std::vector<scenario::SweepPoint>& points, bool complete) {
    std::string out =
        fmt::format("{{\"schema\":\"kvsim.sweep/1\",\"complete\":{},\"axes\":[", complete);
    for (std::size_t i = 0; i < axes.size(); ++i)
      out += fmt::format("{}{}", i ? "," : "", config::json_string(axes[i].path));
    out += "],\"points\":[";
    for (std::size_t k = 0; k < points.size(); ++k) {
      const scenario::SweepPoint& p = points[k];
      out += fmt::format("{}\n{{\"index\":{},\"values\":[", k ? "," : "", p.index);
      for (std::size_t i = 0; i < p.values.size(); ++i)
        out += fmt::format("{}{}", i ? "," : "", config::json_string(p.values[i]));
      out += fmt::format("],\"error\":{},\"result\":",
                         p.error.empty() ? "null" : config::json_string(p.error));
      out += p.result ? report::render_json(*p.result, {}) : "null";
      out += "}";
    }
    return out + "]}\n";
  }

  static std::string csv(const std::vector<scenario::Axis>& axes,
                         const std::vector<scenario::SweepPoint>& points) {
    std::string out = "index";
    for (const scenario::Axis& axis : axes) out += "," + axis.path;
    out +=
        ",completed,duration_s,mean_ttft_ms,mean_tpot_ms,output_throughput,request_goodput,peak_"
        "used_ratio,binds\n";
    for (const scenario::SweepPoint& p : points) {
      if (!p.result) continue;
      const metrics::Summary& s = p.result->summary;
      out += std::to_string(p.index);
      for (const std::string& value : p.values) out += ",\"" + value + "\"";
      out += fmt::format(",{},{},{},{},{},{},{},{}\n", s.completed, s.duration, s.ttft_ms.mean,
                         s.tpot_ms.mean, s.output_throughput,
                         s.request_goodput ? fmt::format("{}", *s.request_goodput) : "",
                         p.result->kv.peak_used_ratio, p.result->verdict.binds);
    }
    return out;
  }

  std::string scenario_, shard_, csv_;
  std::vector<std::string> vary_;
  std::optional<int> jobs_;
  bool intervals_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sweep() { return std::make_unique<Sweep>(); }

}  // namespace kvsim::cli
