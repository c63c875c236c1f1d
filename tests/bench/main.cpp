#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>

// Prints the usual table and then, for each benchmark that has a yardstick (the same name with
// "yardstick_" in front), how much of the yardstick's processor time it takes. Ratios are
// comparable between machines; nanoseconds are not.

namespace {

class RatioReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs)
      if (!run.error_occurred && run.iterations > 0)
        seconds_[run.benchmark_name()] =
            run.cpu_accumulated_time / static_cast<double>(run.iterations);
  }
  void Finalize() override {
    std::printf("\nratio to its yardstick\n");
    for (const auto& [name, seconds] : seconds_)
      if (const auto other = seconds_.find("yardstick_" + name); other != seconds_.end())
        std::printf("%-32s %.2f\n", name.c_str(), seconds / other->second);
  }

 private:
  std::map<std::string, double> seconds_;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
