#include "diag/check.h"

#include <doctest/doctest.h>

#include <string>

using namespace kvsim;

namespace {

std::string failure(int blocks) {
  try {
    KVSIM_CHECK(blocks >= 0, "{} free blocks", blocks);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a check that holds costs nothing and says nothing") { CHECK(failure(3).empty()); }

TEST_CASE("a failed check names its condition and its message and its place") {
  const std::string text = failure(-3);
  CHECK(text.find("internal check failed: blocks >= 0") == 0);
  CHECK(text.find("check_test.cpp:") != std::string::npos);
  CHECK(text.find("-3 free blocks") != std::string::npos);
  CHECK(text.find("seed") == std::string::npos);
}

TEST_CASE("a failed check inside a simulation says how to get there again") {
  check_context() = {1500, 4, "r7", 42};
  const std::string text = failure(-1);
  check_context() = {};
  CHECK(text.find("[simulated time 1500 ns, step 4, request r7, seed 42]") != std::string::npos);
}
