#include "kernels/bench/matrix.h"

#include <algorithm>
#include <cmath>
#include <exception>

namespace kvsim::kernels::bench {
namespace {

enum class Pick { first_pass, baselines_left };

// Cases of a family whose baselines are timed at once: the ladder's own.
constexpr std::size_t ladder_cases = 2;

void add_jobs(const std::vector<Problems (*)()>& families, Pick pick, const Wanted& wanted,
              std::vector<Job>& out) {
  std::vector<Problems> cases;
  std::size_t longest = 0;
  for (const auto make : families) {
    cases.push_back(make());
    longest = std::max(longest, cases.back().size());
  }
  for (std::size_t i = 0; i < longest; ++i)
    for (Problems& family : cases) {
      if (i >= family.size()) continue;
      Job job{std::move(family[i]), {}};
      const auto variants = job.problem->variants();
      for (std::size_t v = 0; v < variants.size(); ++v) {
        const bool early = !variants[v].baseline || i < ladder_cases;
        if (early == (pick == Pick::first_pass) && wanted(job.problem->info(), variants[v]))
          job.variants.push_back(v);
      }
      if (!job.variants.empty()) out.push_back(std::move(job));
    }
}

// One case and variant on its way through the two runs.
struct Entry {
  Problem* problem;
  std::size_t variant;
  Result result;
};

// Cases that are in memory at the same time.
class Window {
 public:
  Window(const Card& card, std::uint64_t seed, const std::function<void(Result)>& done)
      : card_(card), seed_(seed), done_(done), memory_(card.memory_bytes) {}

  bool full() const { return entries_.size() >= 8; }
  bool has_room(double bytes) const { return problems_.empty() || bytes <= memory_; }

  void add(Job job, int sets) {
    memory_ -= sets * job.problem->set_bytes();
    const auto variants = job.problem->variants();
    std::string trouble = prepare(*job.problem, sets);
    for (const std::size_t v : job.variants) {
      Result result = result_of(*job.problem, variants[v]);
      result.sets = sets;
      if (!trouble.empty()) {
        result.status = Status::unsupported, result.reason = trouble;
      } else {
        check_variant(*job.problem, v, *card_.device, Rows::sampled, result);
      }
      entries_.push_back({job.problem.get(), v, std::move(result)});
    }
    problems_.push_back(std::move(job.problem));
  }

  void measure(const Deadline& deadline) {
    for (Entry& e : entries_) run(e, deadline, [](Result& r, Times t) { r.time_us = t; });
    for (Entry& e : entries_)
      if (e.result.time_us)
        run(e, deadline, [](Result& r, Times t) { r.time_us->repeat_median = t.median; });
    for (Entry& e : entries_) done_(std::move(e.result));
    entries_.clear(), problems_.clear();
    memory_ = card_.memory_bytes;
  }

 private:
  std::string prepare(Problem& problem, int sets) {
    try {
      problem.prepare(*card_.device, sets, seed_);
      card_.device->synchronize();
      return "";
    } catch (const std::exception& error) {
      return std::string("the case cannot be prepared: ") + error.what();
    }
  }

  template <class Keep>
  void run(Entry& e, const Deadline& deadline, const Keep& keep) {
    if (e.result.status != Status::ok) return;
    if (deadline.over()) {
      if (!e.result.time_us)
        e.result.status = Status::skipped_budget, e.result.reason = deadline.reason();
      return;
    }
    const auto launch = [&](int set) { e.problem->launch(e.variant, set, card_.device->stream()); };
    try {
      const Measured m = card_.timing->measure(launch, e.result.sets, card_.sample_clocks);
      keep(e.result, m.times);
      if (e.result.reason.empty()) e.result.reason = m.note;
      e.result.clocks = merge(e.result.clocks, card_.take_clocks());
    } catch (const std::exception& error) {
      e.result.status = Status::failed, e.result.reason = error.what();
      e.result.time_us.reset();
    }
  }

  static std::optional<Clocks> merge(const std::optional<Clocks>& a,
                                     const std::optional<Clocks>& b) {
    if (!a || !b) return a ? a : b;
    Clocks out = *a;
    const auto least = [](auto& x, const auto& y) { x = x && y ? std::min(*x, *y) : (x ? x : y); };
    const auto most = [](auto& x, const auto& y) { x = std::max(x, y); };
    least(out.sm_mhz_low, b->sm_mhz_low), most(out.sm_mhz_high, b->sm_mhz_high);
    least(out.mem_mhz_low, b->mem_mhz_low), most(out.mem_mhz_high, b->mem_mhz_high);
    most(out.power_w, b->power_w), most(out.temp_c, b->temp_c);
    out.throttle |= b->throttle;
    return out;
  }

  const Card& card_;
  std::uint64_t seed_;
  const std::function<void(Result)>& done_;
  double memory_;
  Problems problems_;
  std::vector<Entry> entries_;
};

void skip(const Job& job, Status status, const std::string& reason,
          const std::function<void(Result)>& done) {
  const auto variants = job.problem->variants();
  for (const std::size_t v : job.variants) {
    Result result = result_of(*job.problem, variants[v]);
    result.status = status, result.reason = reason;
    done(std::move(result));
  }
}

// Takes out of the job what the device cannot run.
void drop_unsupported(Job& job, const Device& device, const std::function<void(Result)>& done) {
  const auto variants = job.problem->variants();
  std::vector<std::size_t> kept;
  for (const std::size_t v : job.variants) {
    Result result = result_of(*job.problem, variants[v]);
    result.reason = unsupported_reason(variants[v], device);
    if (result.reason.empty()) {
      kept.push_back(v);
    } else {
      result.status = Status::unsupported;
      done(std::move(result));
    }
  }
  job.variants = std::move(kept);
}

}  // namespace

std::vector<Job> interleave(const std::vector<Problems (*)()>& families, const Wanted& wanted) {
  std::vector<Job> out;
  add_jobs(families, Pick::first_pass, wanted, out);
  add_jobs(families, Pick::baselines_left, wanted, out);
  return out;
}

int sets_of(double set_bytes, const Card& card) {
  constexpr double most = 256;
  const double bytes = std::max(set_bytes, 1.0);
  const double wanted = std::clamp(std::ceil(4 * card.l2_bytes / bytes), 3.0, most);
  return static_cast<int>(std::min(wanted, std::floor(card.memory_bytes / bytes)));
}

void time_jobs(std::vector<Job> jobs, const Card& card, std::uint64_t seed,
               const Deadline& deadline, const std::function<void(Result)>& done) {
  Window window(card, seed, done);
  for (Job& job : jobs) {
    drop_unsupported(job, *card.device, done);
    if (job.variants.empty()) continue;
    const int sets = sets_of(job.problem->set_bytes(), card);
    if (sets == 0) {
      skip(job, Status::unsupported, "its buffers do not fit the memory", done);
      continue;
    }
    if (window.full() || !window.has_room(sets * job.problem->set_bytes()))
      window.measure(deadline);
    if (deadline.over())
      skip(job, Status::skipped_budget, deadline.reason(), done);
    else
      window.add(std::move(job), sets);
  }
  window.measure(deadline);
}

}  // namespace kvsim::kernels::bench
