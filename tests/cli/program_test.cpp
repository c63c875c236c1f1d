#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>

#include "cli/commands/registry.h"
#include "cli/harness.h"

using kvsim::cli::CommandEntry;
using kvsim::test::Kvsim;

TEST_CASE("bare kvsim prints the command map on stderr and exits 2") {
  Kvsim bare({});
  bare.exits(2).out_is("").err_has("Usage: kvsim COMMAND").leaves_nothing();
  for (const std::string& word : kvsim::cli::first_words()) bare.err_has(word);
  const std::string& map = bare.err();
  CHECK(std::count(map.begin(), map.end(), '\n') <= 24);
}

TEST_CASE("help goes to stdout and exits 0") {
  Kvsim({"--help"}).exits(0).err_is("").out_has("Exit codes:").out_has("--models-dir");
  Kvsim({"help"}).exits(0).err_is("").out_has("Exit codes:");
}

TEST_CASE("every command has help by flag and by word and it fits 100 columns") {
  for (const CommandEntry& entry : kvsim::cli::commands()) {
    std::vector<std::string> words;
    const auto blank = entry.name.find(' ');
    words.emplace_back(entry.name.substr(0, blank));
    if (blank != std::string_view::npos) words.emplace_back(entry.name.substr(blank + 1));
    std::vector<std::string> by_word{"help"};
    by_word.insert(by_word.end(), words.begin(), words.end());
    Kvsim word(by_word);
    word.exits(0).err_is("").out_has(fmt::format("Usage: kvsim {}", entry.name));
    words.push_back("--help");
    Kvsim flag(words);
    flag.exits(0).err_is("").out_is(word.out());
    std::size_t start = 0;
    for (std::size_t end; (end = word.out().find('\n', start)) != std::string::npos;
         start = end + 1) {
      INFO(word.out().substr(start, end - start));
      CHECK(end - start <= 100);
    }
  }
}

TEST_CASE("a misspelt command is answered with the nearest one") {
  Kvsim({"versoin"})
      .exits(2)
      .out_is("")
      .err_is("error: unknown command \"versoin\"\n   did you mean version?\n");
  Kvsim({"halp"}).exits(2).err_has("did you mean help?");
  Kvsim({"zzzzzz"}).exits(2).err_has("kvsim --help lists the commands");
  Kvsim({"help", "versoin"}).exits(2).out_is("").err_has("did you mean version?");
}

TEST_CASE("a misspelt flag is answered with the nearest one") {
  Kvsim({"version", "--jsno"})
      .exits(2)
      .out_is("")
      .err_is("error: unknown flag --jsno\n   did you mean --json?\n");
  Kvsim({"--jsno", "version"}).exits(2).out_is("").err_has("did you mean --json?");
  Kvsim({"--jsno"}).exits(2).out_is("").err_has("did you mean --json?");
}

TEST_CASE("global flags may stand before and after the command") {
  Kvsim({"--json", "version"}).exits(0).out_is_json();
  Kvsim({"version", "--json"}).exits(0).out_is_json();
  Kvsim({"--seed", "3", "version", "--json"}).exits(0).out_is_json();
}

TEST_CASE("version equals the one in CMake and stdout under --json is one document") {
  Kvsim({"version"}).exits(0).err_is("").out_has("kvsim " KVSIM_PROJECT_VERSION " ");
  Kvsim({"--version"}).exits(0).err_is("").out_has("kvsim " KVSIM_PROJECT_VERSION " ");
  Kvsim({"version", "--json"})
      .exits(0)
      .err_is("")
      .out_is_json()
      .out_has("\"version\": \"" KVSIM_PROJECT_VERSION "\"");
}

TEST_CASE("under --json errors are JSON lines and stdout is empty") {
  Kvsim({"version", "--jsn", "--json"})
      .exits(2)
      .out_is("")
      .err_is_json_lines()
      .err_has("\"code\":\"usage-unknown-flag\"");
  Kvsim({"versoin", "--json"})
      .exits(2)
      .out_is("")
      .err_is_json_lines()
      .err_has("\"hint\":\"did you mean version?\"");
  Kvsim({"version", "--json", "-o", "nowhere/v.json"})
      .exits(4)
      .out_is("")
      .err_is_json_lines()
      .err_has("\"code\":\"io\"")
      .err_has("\"file\":\"nowhere/v.json\"");
}

TEST_CASE("a set without an equal sign is a usage error that names it") {
  Kvsim({"version", "--set", "cluster.pools.0.replicas"})
      .exits(2)
      .out_is("")
      .err_has("--set")
      .err_has("cluster.pools.0.replicas");
  Kvsim({"version", "--set", "=3"}).exits(2).err_has("--set");
}

TEST_CASE("a set does not eat the words that follow it") {
  Kvsim({"--set", "a=1", "version"}).exits(0).out_has("kvsim");
  Kvsim({"version", "--set", "a=1", "stray"}).exits(2).err_has("stray");
}

TEST_CASE("each global flag with a bad value is a usage error that names it") {
  Kvsim({"version", "--seed", "1.5"}).exits(2).err_has("--seed");
  Kvsim({"version", "--seed", "-1"}).exits(2).err_has("--seed");
  Kvsim({"version", "--color", "maybe"})
      .exits(2)
      .err_has("--color")
      .err_has("expected one of auto, always, never");
  Kvsim({"version", "--models-dir"}).exits(2).err_has("--models-dir needs a value");
  Kvsim({"version", "-o", "a", "-o", "b"})
      .exits(2)
      .err_has("--output is given 2 times")
      .leaves_nothing();
}
