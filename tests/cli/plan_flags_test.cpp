#include "cli/commands/plan_flags.h"

#include <doctest/doctest.h>

#include "cli/usage.h"

using namespace kvsim::cli;

namespace {

// The flag given alone, with some value that it takes.
PlanFlags alone(const FlagSpec& spec) {
  if (spec.arity == Arity::none) return PlanFlags::from_words({spec.name});
  std::vector<std::string> values = spec.choices;
  values.insert(values.end(), {"1", "0.5", "1GiB"});
  for (const std::string& value : values) try {
      return PlanFlags::from_words({spec.name, value});
    } catch (const UsageError&) {  // another value may do
    }
  return {};
}

}  // namespace

TEST_CASE("every flag of a deployment is known by its name and is filled from another place") {
  PlanFlags described;
  Flags flags;
  described.describe(flags);
  for (const FlagSpec& spec : flags.list()) {
    if (spec.positional || spec.name == "--gpu" || spec.name.starts_with("--no-")) continue;
    CAPTURE(spec.name);
    const PlanFlags theirs = alone(spec);
    CHECK(theirs.has(spec.name));
    CHECK(theirs.names() == std::vector<std::string>{spec.name});
    PlanFlags mine;
    CHECK_FALSE(mine.has(spec.name));
    mine.fill(theirs);
    CHECK(mine.has(spec.name));
  }
}

TEST_CASE("flags that are given are not filled") {
  PlanFlags mine = PlanFlags::from_words({"--tp", "2", "--no-enable-prefix-caching"});
  mine.fill(PlanFlags::from_words({"--tp", "8", "--enable-prefix-caching", "--dp", "4"}));
  CHECK(mine.names() == std::vector<std::string>{"--tensor-parallel-size", "--data-parallel-size",
                                                 "--enable-prefix-caching"});
  mine.set_model("llama-3.1-8b");
  mine.set_gpu("h100-sxm");
  const kvsim::planner::Request r = mine.request(kvsim::spec::Catalog());
  CHECK(r.options.plan.tensor_parallel_size == 2);
  CHECK(r.options.plan.data_parallel_size == 4);
  CHECK(r.options.enable_prefix_caching == false);
}
