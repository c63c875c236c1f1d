#include "kernels/bench/selection.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "kernels/bench/edit_distance.h"
#include "kernels/host/problem.h"

namespace kvsim::kernels::bench {
namespace {

template <class Use>
void for_each_id(const Problems& cases, const Use& use) {
  for (const auto& problem : cases)
    for (const VariantInfo& v : problem->variants()) use(case_id(problem->info(), v.name));
}

bool takes_times(const Options& o) {
  return o.action == Action::list || (o.backend == Backend::gpu && o.scope == Scope::full);
}

std::string_view kernel_of(std::string_view id) { return id.substr(0, id.find('/')); }

// Ids of the same kernel first, then those that need the fewest edits to hold the filter; none that
// have little in common with it.
std::vector<std::string> nearest_ids(const std::string& filter, const ListedCases& cases) {
  constexpr std::size_t most = 3;
  const std::size_t near = std::max<std::size_t>(1, filter.size() / 3);
  std::vector<std::tuple<bool, std::size_t, std::string>> ranked;
  for (const auto& [kind, id] : cases) {
    const bool other_kernel = kernel_of(id) != kernel_of(filter);
    const std::size_t distance = distance_within(filter, id);
    if (!other_kernel || distance <= near) ranked.emplace_back(other_kernel, distance, id);
  }
  std::ranges::stable_sort(ranked, {},
                           [](const auto& r) { return std::pair(std::get<0>(r), std::get<1>(r)); });
  std::vector<std::string> out;
  for (const auto& [other, distance, id] : ranked)
    if (out.size() < most && std::ranges::find(out, id) == out.end()) out.push_back(id);
  return out;
}

}  // namespace

Selection::Selection(std::string filter) : filter_(std::move(filter)) {
  for (const Family& family : families())
    if (family.name == filter_)
      for (const auto make : {family.quick_cases, family.edge_cases, family.bench_cases})
        for_each_id(make(), [this](const std::string& id) { family_ids_.insert(id); });
}

ListedCases cases_of_run(const Options& options) {
  ListedCases out;
  const auto add = [&out](const char* kind, const Problems& cases) {
    for_each_id(cases, [&](const std::string& id) { out.emplace_back(kind, id); });
  };
  for (const Family& family : families()) {
    add("quick", family.quick_cases());
    if (options.quick) continue;
    add("edge", family.edge_cases());
    if (takes_times(options)) add("bench", family.bench_cases());
  }
  return out;
}

void expect_some_case(const Options& options) {
  const Selection selection(options.filter);
  const auto selected = [&selection](const auto& kind_and_id) {
    return selection.has(kind_and_id.second);
  };
  const ListedCases cases = cases_of_run(options);
  if (std::ranges::any_of(cases, selected)) return;
  std::string text = "--filter: no case of this run has \"" + options.filter + "\" in its id";
  const ListedCases all = cases_of_run({.action = Action::list});
  if (const auto others = std::ranges::count_if(all, selected); others > 0)
    throw UsageError(
        text + "; " + std::to_string(others) + " that it leaves out have",
        "kvbench --list --filter '" + options.filter + "' names them and the runs they are in");
  const std::vector<std::string> nearest = nearest_ids(options.filter, cases);
  if (!nearest.empty()) text += "; the nearest are";
  for (const std::string& id : nearest) text += "\n  " + id;
  throw UsageError(text, "kvbench --list prints the ids of all cases");
}

}  // namespace kvsim::kernels::bench
