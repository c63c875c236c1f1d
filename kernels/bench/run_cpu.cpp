#include <iterator>

#include "kernels/bench/checks.h"
#include "kernels/bench/run.h"

namespace kvsim::kernels::bench {

void run_cpu(const Options& options, Document& document, Deadline& deadline) {
  const auto device = make_cpu_device({.count_bytes = true});
  document.device = device->facts();
  for (const Family& family : families()) {
    std::size_t count = 0;
    const auto add = [&](Problems cases) {
      std::vector<Result> results = check_cases(std::move(cases), *device, options, deadline);
      count += results.size();
      std::ranges::move(results, std::back_inserter(document.results));
    };
    add(family.quick_cases());
    if (!options.quick) add(family.edge_cases());
    say(std::string(family.name) + ": " + std::to_string(count) + " cases checked");
  }
  document.notes.emplace_back(
      "The executor counts bytes and checks results; it takes no times, because a CPU's time says "
      "nothing of a GPU's.");
}

}  // namespace kvsim::kernels::bench
