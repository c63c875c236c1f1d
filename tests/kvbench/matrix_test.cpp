#include "kernels/bench/matrix.h"

#include <doctest/doctest.h>

#include <map>

using namespace kvsim::kernels;
using namespace kvsim::kernels::bench;

namespace {

// A case that does nothing but remember: variants fast, wrong and naive (a baseline).
class Remembering final : public Problem {
 public:
  Remembering(std::string kernel, double bytes) : bytes_(bytes) {
    info_.kernel = std::move(kernel);
    info_.shape = {{"N", static_cast<std::int64_t>(bytes)}};
  }
  const CaseInfo& info() const override { return info_; }
  Floor floor() const override { return {bytes_, 0, "N"}; }
  std::vector<VariantInfo> variants() const override {
    return {{.name = "fast"},
            {.name = "wrong"},
            {.name = "naive", .baseline = true},
            {.name = "hopper", .cpu = false}};
  }
  double set_bytes() const override { return bytes_; }
  void prepare(Device&, int sets, std::uint64_t) override { prepared_sets = sets; }
  void poison(int) override {}
  void launch(std::size_t, int set, Stream) override { CHECK(set < prepared_sets); }
  Check check(std::size_t variant, int) override {
    return {.rel_l2 = variant == 1 ? 1.0 : 0.0, .rows_checked = 1, .gate = 0.1};
  }
  int prepared_sets = 0;

 private:
  double bytes_;
  CaseInfo info_;
};

template <class... Bytes>
Problems cases(const char* kernel, Bytes... bytes) {
  Problems out;
  (out.push_back(std::make_unique<Remembering>(kernel, bytes)), ...);
  return out;
}
Problems family_a() { return cases("a", 1e3, 2e3, 3e3); }
Problems family_b() { return cases("b", 1e3); }

class FakeTiming final : public Timing {
 public:
  Measured measure(const LaunchSet& launch, int sets, const std::function<void()>&) override {
    for (int i = 0; i < sets; ++i) launch(i);
    ++calls;
    return {{.median = 10.0 * calls, .p10 = 1, .p90 = 100, .n = 3}, ""};
  }
  Ceilings machine_ceilings() override { return {}; }
  double free_bytes() override { return 0; }
  std::string pci_bus_id() override { return ""; }
  std::optional<double> datasheet_gbs() override { return std::nullopt; }
  int calls = 0;
};

struct Bench {
  std::unique_ptr<Device> device = make_cpu_device({});
  FakeTiming timing;
  Card card{.device = device.get(),
            .timing = &timing,
            .memory_bytes = 1e6,
            .l2_bytes = 1e3,
            .sample_clocks = [] {},
            .take_clocks = [] { return std::optional<Clocks>(); }};
  std::vector<Result> results;

  void run(std::vector<Job> jobs, double budget_s = 1e3) {
    time_jobs(std::move(jobs), card, 1, Deadline(budget_s),
              [this](Result r) { results.push_back(std::move(r)); });
  }
  const Result& named(const std::string& id) const {
    for (const Result& r : results)
      if (r.id == id) return r;
    throw std::runtime_error("no result " + id);
  }
};

bool all(const CaseInfo&, const VariantInfo&) { return true; }

}  // namespace

TEST_CASE("cases of the families take turns and late baselines come last") {
  const auto jobs = interleave({family_a, family_b}, all);
  std::vector<std::string> order;
  for (const Job& job : jobs)
    order.push_back(case_id(job.problem->info(), "") + ":" + std::to_string(job.variants.size()));
  CHECK(order ==
        std::vector<std::string>{"a/N1000:4", "b/N1000:4", "a/N2000:4", "a/N3000:3", "a/N3000:1"});
}

TEST_CASE("a variant that fails its check is not timed and the others are timed twice apart") {
  Bench bench;
  bench.run(interleave({family_a, family_b}, all));
  CHECK(bench.results.size() == 16);
  CHECK(bench.named("a/wrong/N1000").status == Status::failed);
  CHECK_FALSE(bench.named("a/wrong/N1000").time_us);
  CHECK(bench.named("a/hopper/N1000").status == Status::unsupported);
  const Result& fast = bench.named("a/fast/N1000");
  REQUIRE(fast.time_us);
  CHECK(fast.time_us->median == 10);
  // The second run came after all first runs of its window.
  CHECK(fast.time_us->repeat_median.value() > 20);
  CHECK(bench.timing.calls == 2 * 8);
}

TEST_CASE("what a deadline cuts off is skipped with its reason") {
  Bench bench;
  bench.run(interleave({family_a}, all), 1e-9);
  for (const Result& r : bench.results) {
    if (r.variant.name == "hopper") continue;
    CHECK(r.status == Status::skipped_budget);
    CHECK(r.reason == "the time was up");
  }
}

TEST_CASE("sets of buffers exceed the cache and fit the memory") {
  Bench bench;
  CHECK(sets_of(1e5, bench.card) == 3);
  CHECK(sets_of(100, bench.card) == 40);
  CHECK(sets_of(1, bench.card) == 256);
  CHECK(sets_of(4e5, bench.card) == 2);
  CHECK(sets_of(2e6, bench.card) == 0);
}

TEST_CASE("a case that does not fit the memory is unsupported") {
  Bench bench;
  bench.run(interleave({[] { return cases("huge", 2e6); }}, all));
  CHECK(bench.named("huge/fast/N2000000").status == Status::unsupported);
  CHECK(bench.named("huge/fast/N2000000").reason == "its buffers do not fit the memory");
}
