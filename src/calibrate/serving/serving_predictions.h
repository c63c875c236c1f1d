#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "calibrate/serving/deployment.h"
#include "calibrate/serving/host_fit.h"
#include "cost/step/host_table.h"
#include "cost/step/step_cost.h"
#include "spec/catalog.h"

namespace kvsim::calibrate {

// Which host constants serving runs are predicted with.
enum class HostConstants {
  none,     // kernels alone: nothing was fitted to serving runs
  known,    // those that ship with kvsim
  halves,   // fitted to every other run of a framework, version, GPU and precision; the rest scored
  left_out  // fitted to the framework's runs of all other models
};
inline constexpr std::array<std::string_view, 4> host_constants_names{"none", "known", "halves",
                                                                      "left-out"};

// Serving runs, predicted together: constants are fitted to one part of them for another.
class ServingPredictions {
 public:
  struct Options {
    HostConstants host = HostConstants::known;
    bool datasheet = false;           // step times from the roofline
    std::function<void()> poll = {};  // called between steps; may throw to stop
  };
  ServingPredictions(const spec::Catalog& catalog, Options options);

  // A run on a catalog GPU; answers its number, or why it cannot be predicted.
  struct Added {
    std::size_t run = 0;
    std::string unrepresentable;
  };
  Added add(const Measurement& m, const spec::GpuSpec& gpu);
  void predict();

  bool is_scored(std::size_t run) const { return runs_[run].scored; }
  // Seconds, or output tokens per second and GPU; by the figure's kernel.
  double value(std::size_t run, std::string_view kernel) const;
  // The run's part of the report: a catalog model, with "offline" where all requests were queued.
  const std::string& regime(std::size_t run) const { return runs_[run].regime; }
  // Which summary it counts in (serving_summary.h).
  std::string_view part(std::size_t run) const { return runs_[run].part; }
  std::string_view source(std::size_t run) const { return runs_[run].source; }
  // Group that shares constants: framework, version, GPU, precision.
  const std::string& host_group(std::size_t run) const { return runs_[run].group; }
  // Spread of log(measured / predicted) that the kernels' residuals explain.
  double kernel_sigma(std::size_t run) const { return runs_[run].sigma; }

  // What was fitted, by group (halves) or framework and model (left_out).
  struct Fitted {
    std::string group;
    cost::HostEntry entry;
    HostTerms terms = HostTerms::none;
  };
  const std::vector<Fitted>& fitted() const { return fitted_; }
  // Constants of all runs, for the catalog: an entry per group and model, and one per framework.
  std::vector<cost::HostEntry> fit_all() const;

 private:
  struct Run {
    ServedRun served;
    double ranks = 1, gpus = 1;
    bool closed_loop = true, scored = true;
    std::string group, regime;
    std::string_view part, source;
    double sigma = 0;
    LoopFigures figures;
  };
  const Deployment& deployment(const Serving& run, const std::string& framework,
                               const spec::GpuSpec& gpu);
  std::map<std::string, std::vector<std::size_t>> by_group(bool with_model) const;
  void evaluate(Run& run, const cost::HostProfile& host) const;
  void fit_halves();
  void fit_left_out();

  const spec::Catalog& catalog_;
  void poll() const {
    if (options_.poll) options_.poll();
  }

  Options options_;
  cost::CostBook book_;
  std::map<std::string, Deployment> deployments_;
  std::vector<Run> runs_;
  std::vector<Fitted> fitted_;
};

}  // namespace kvsim::calibrate
