#include <algorithm>
#include <exception>
#include <iterator>

#include "kernels/bench/ceilings.h"
#include "kernels/bench/matrix.h"
#include "kernels/bench/nvml.h"
#include "kernels/bench/output_file.h"
#include "kernels/bench/run.h"
#include "kernels/bench/summary.h"
#include "kernels/latency/chase.h"

namespace kvsim::kernels::bench {
namespace {

// Shares of the budget: what is over is taken from the matrix, which comes last.
constexpr double ceilings_share = 0.25, checks_share = 0.25;

class GpuRun {
 public:
  GpuRun(Device& device, Timing& timing, const Options& options, Document& document,
         Deadline& deadline)
      : device_(device),
        timing_(timing),
        options_(options),
        document_(document),
        deadline_(deadline),
        selection_(options.filter),
        nvml_(timing.pci_bus_id()) {
    if (!nvml_.missing().empty())
      document.notes.push_back("No clocks, power or temperature: " + nvml_.missing() + ".");
    if (const std::string driver = nvml_.driver_version(); !driver.empty())
      document.device.driver = driver;
    document.datasheet_gbs = timing.datasheet_gbs();
    card_ = {.device = &device,
             .timing = &timing,
             .memory_bytes = std::min(0.8 * timing.free_bytes(), 64e9),
             .l2_bytes = static_cast<double>(device.facts().l2_bytes),
             .sample_clocks = [this] { nvml_.sample(); },
             .take_clocks = [this] { return nvml_.take(); }};
  }

  void ceilings() {
    say("ceilings");
    const Deadline until(ceilings_share * options_.budget_s, &deadline_);
    try {
      document_.ceilings = timing_.machine_ceilings();
      document_.ceilings.l2_ns = l2_ns();
    } catch (const LaunchError& error) {
      document_.notes.push_back(std::string("Not all ceilings: ") + error.what() + ".");
    }
    time([](const CaseInfo& i, const VariantInfo& v) { return always(i, v); }, Filter::off, until);
    time([](const CaseInfo& i, const VariantInfo& v) { return is_ceiling(i, v) && !always(i, v); },
         Filter::on, until);
    take_ceilings(document_.results, document_.ceilings);
    save();
  }

  void checks() {
    const Deadline until(checks_share * options_.budget_s, &deadline_);
    std::size_t passed = 0, total = 0;
    for (const Family& family : families()) {
      if (!until.over()) say("checks: " + std::string(family.name));
      check(family.quick_cases(), Keep::all, until, passed, total);
      if (!options_.quick) check(family.edge_cases(), Keep::failures, until, passed, total);
    }
    document_.notes.push_back(std::to_string(passed) + " of " + std::to_string(total) +
                              " small cases passed their checks; edge cases are listed where they "
                              "did not.");
    save();
  }

  void matrix() {
    say("timed matrix, " + std::to_string(static_cast<int>(deadline_.left_s())) + " s left");
    time([](const CaseInfo& i, const VariantInfo& v) { return !is_ceiling(i, v); }, Filter::on,
         deadline_);
    take_ceilings(document_.results, document_.ceilings);
  }

  void finish() { note_not_reached(unlisted_, deadline_, document_); }

 private:
  enum class Keep { all, failures };
  enum class Filter { on, off };

  // Naive versions are no ceilings and can be slow: they wait for the matrix.
  static bool is_ceiling(const CaseInfo& info, const VariantInfo& variant) {
    return !variant.baseline && is_ceiling_case(info);
  }
  // Without them no result of a filtered run would have its shares.
  static bool always(const CaseInfo& info, const VariantInfo& variant) {
    return is_ceiling(info, variant) && (info.kernel == "copy" || info.kernel == "read");
  }

  // What there is so far, so that a kernel that never ends or a lost machine costs only what
  // follows.
  void save() {
    if (options_.output.empty()) return;
    Document so_far = document_;
    so_far.notes.emplace_back("Saved while the run was going on: what came later is missing.");
    write_output(options_.output, to_json(so_far));
    saved_s_ = deadline_.elapsed_s();
  }

  void check(Problems cases, Keep keep, const Deadline& until, std::size_t& passed,
             std::size_t& total) {
    for (Result& r : check_cases(std::move(cases), device_, selection_, options_.seed, until)) {
      ++total;
      passed += r.status == Status::ok ? 1 : 0;
      note_failure(r);
      if (keep == Keep::all || r.status == Status::failed)
        document_.results.push_back(std::move(r));
      else if (r.status == Status::skipped_budget)
        ++unlisted_;
    }
  }

  template <class Which>
  void time(const Which& which, Filter filter, const Deadline& until) {
    std::vector<Problems (*)()> makers;
    for (const Family& family : families()) makers.push_back(family.bench_cases);
    const auto wanted = [&](const CaseInfo& info, const VariantInfo& variant) {
      return which(info, variant) &&
             (filter == Filter::off || selection_.has(case_id(info, variant.name)));
    };
    time_jobs(interleave(makers, wanted), card_, options_.seed, until, [this](Result r) {
      say(one_line(r, document_.ceilings));
      note_failure(r);
      document_.results.push_back(std::move(r));
      if (deadline_.elapsed_s() > saved_s_ + 10) save();
    });
  }

  // A walk over a megabyte: too much for an L1 cache, and at home in every L2 cache.
  double l2_ns() {
    constexpr int bytes = 1 << 20, steps = bytes / 128;
    PointerChase chase(device_, bytes);
    const Measured m = timing_.measure([&](int) { chase.walk(steps, device_.stream()); }, 1, [] {});
    return m.times.median * 1e3 / steps;
  }

  // After a fault inside a kernel the card's context refuses everything; what follows would fail
  // for no fault of its own.
  void note_failure(const Result& r) {
    if (r.status != Status::failed || deadline_.over()) return;
    try {
      device_.synchronize();
      device_.release(device_.allocate(256));
    } catch (const std::exception& error) {
      deadline_.stop("the GPU was lost in " + r.id);
      document_.notes.push_back("The GPU was lost in " + r.id + ": " + error.what() +
                                ". Failures after it are not to be trusted.");
    }
  }

  Device& device_;
  Timing& timing_;
  const Options& options_;
  Document& document_;
  Deadline& deadline_;
  const Selection selection_;
  Nvml nvml_;
  Card card_;
  std::size_t unlisted_ = 0;  // edge cases that were not reached
  double saved_s_ = 0;
};

}  // namespace

void run_gpu(Device& device, Timing& timing, const Options& options, Document& document,
             Deadline& deadline) {
  document.device = device.facts();
  GpuRun run(device, timing, options, document, deadline);
  if (options.scope == Scope::full) run.ceilings();
  run.checks();
  if (options.scope == Scope::full && !options.quick) run.matrix();
  run.finish();
}

}  // namespace kvsim::kernels::bench
