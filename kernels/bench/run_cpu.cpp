#include <iterator>

#include "kernels/bench/checks.h"
#include "kernels/bench/run.h"

namespace kvsim::kernels::bench {

void run_cpu(const Options& options, Document& document, Deadline& deadline) {
  const auto device = make_cpu_device({.count_bytes = true});
  document.device = device->facts();
  const Selection selection(options.filter);
  for (const Family& family : families()) {
    std::size_t count = 0;
    const auto add = [&](Problems cases) {
      std::vector<Result> results =
          check_cases(std::move(cases), *device, selection, options.seed, deadline);
      count += results.size();
      std::ranges::move(results, std::back_inserter(document.results));
    };
    add(family.quick_cases());
    if (!options.quick) add(family.edge_cases());
    if (count != 0 && !deadline.over())
      say(std::string(family.name) + ": " + std::to_string(count) + " cases checked");
  }
  document.notes.emplace_back(
      "The executor counts bytes and checks results; it takes no times, because a CPU's time says "
      "nothing of a GPU's.");
  note_not_reached(0, deadline, document);
}

}  // namespace kvsim::kernels::bench
