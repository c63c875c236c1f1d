#include <doctest/doctest.h>
#include <fmt/format.h>

#include "cli/commands/registry.h"
#include "cli/harness.h"

using kvsim::test::is_installed;
using kvsim::test::Kvsim;
using kvsim::test::Program;

namespace {

// What bash offers for a command line whose last word is being typed.
std::string offered(const std::string& line) {
  Program bash(
      "bash",
      {"-c", "source kvsim.bash; COMP_WORDS=(" + line +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _kvsim; echo \"${COMPREPLY[*]}\""});
  bash.file("kvsim.bash", Kvsim({"completion", "bash"}).out()).exits(0).err_is("");
  return " " + bash.out().substr(0, bash.out().size() - 1) + " ";
}

}  // namespace

TEST_CASE("bash completes commands and flags and closed words") {
  if (!is_installed("bash")) {
    MESSAGE("bash is not installed");
    return;
  }
  const std::string all = offered("kvsim ''");
  for (const std::string& word : kvsim::cli::first_words())
    CHECK(all.find(" " + word + " ") != std::string::npos);
  CHECK(offered("kvsim vers") == " version ");
  CHECK(offered("kvsim help vers") == " version ");
  CHECK(offered("kvsim version --js") == " --json ");
  CHECK(offered("kvsim version --color al") == " always ");
  CHECK(offered("kvsim completion z") == " zsh ");
}

TEST_CASE("completion scripts name every command") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    Kvsim script({"completion", shell});
    script.exits(0).err_is("");
    for (const std::string& word : kvsim::cli::first_words()) script.out_has(word);
  }
}

TEST_CASE("zsh and fish accept their scripts where they are installed") {
  for (const char* shell : {"zsh", "fish"}) {
    if (!is_installed(shell)) {
      MESSAGE(std::string(shell), " is not installed");
      continue;
    }
    Program(shell, {"-n", "script"})
        .file("script", Kvsim({"completion", shell}).out())
        .exits(0)
        .err_is("");
  }
}
