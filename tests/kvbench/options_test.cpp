#include "kernels/bench/options.h"

#include <doctest/doctest.h>

#include <vector>

using namespace kvsim::kernels;
using namespace kvsim::kernels::bench;

namespace {

Options parse(const std::vector<const char*>& arguments) { return parse_options(arguments); }

std::string complaint(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("flags take their value from the next word or after an equals sign") {
  const Options o = parse({"--backend", "cpu", "--quick", "--budget-s=12.5", "--seed", "9",
                           "--filter", "mma", "-o", "out.json"});
  CHECK(o.backend == Backend::cpu);
  CHECK(o.quick);
  CHECK(o.budget_s == 12.5);
  CHECK(o.seed == 9);
  CHECK(o.filter == "mma");
  CHECK(o.output == "out.json");
  CHECK(o.scope == Scope::full);
  CHECK(parse({"--check-only"}).scope == Scope::check);
  CHECK(parse({"--output=a"}).output == "a");
}

TEST_CASE("an unknown flag names the nearest one") {
  CHECK(complaint({"--bakend", "cpu"}) == "unknown flag --bakend; the nearest is --backend");
  CHECK(complaint({"--lst"}) == "unknown flag --lst; the nearest is --list");
}

TEST_CASE("an unknown flag that is near to none names none") {
  CHECK(complaint({"--bogus"}) == "unknown flag --bogus");
  CHECK(complaint({"-x"}) == "unknown flag -x");
  CHECK(complaint({"--check"}) == "unknown flag --check; the nearest is --check-only");
  CHECK(complaint({"--verison"}) == "unknown flag --verison; the nearest is --version");
}

TEST_CASE("the short flags are those of other programs") {
  CHECK(parse({"-h"}).action == Action::help);
  CHECK(parse({"-o", "-"}).output.empty());
  CHECK(complaint({"-o", ""}) == "-o: expected a file or -, found \"\"");
}

TEST_CASE("values that are no values of their flag are refused") {
  CHECK(complaint({"--backend", "tpu"}) == "--backend: expected cpu or gpu, found \"tpu\"");
  CHECK(complaint({"--seed", "-1"}) == "--seed: expected a number, found \"-1\"");
  CHECK(complaint({"--budget-s", "0"}) == "--budget-s: expected a number above 0");
  CHECK(complaint({"--seed"}) == "--seed needs a value: N");
  CHECK(complaint({"--quick=yes"}) == "--quick takes no value");
}

TEST_CASE("the help names every flag") {
  const std::string help = help_text();
  for (const char* flag : {"--backend", "--quick", "--check-only", "--budget-s", "--filter",
                           "--seed", "-o FILE", "--list", "--version", "--help", "-h"})
    CHECK(help.find(flag) != help.npos);
}
