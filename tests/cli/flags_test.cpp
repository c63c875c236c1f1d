#include "cli/flags.h"

#include <doctest/doctest.h>

#include "cli/commands/registry.h"
#include "cli/globals.h"
#include "cli/parser.h"
#include "cli/usage.h"

using namespace kvsim;
using namespace kvsim::cli;

namespace {

// What a command line leaves behind, and how it fails.
struct Sample {
  bool eager = false;
  std::optional<bool> caching;
  int verbosity = 0;
  std::string text = "unset";
  std::int64_t whole = -1;
  int small = -1;
  double real = -1;
  Bytes size;
  std::optional<Bytes> pool;
  Duration span;
  Bandwidth rate;
  std::vector<std::string> sets;
  std::string word = "auto";
  std::string first;
  std::vector<std::string> others;

  void describe(Flags& f) {
    f.flag("--enforce-eager", eager, "no graphs");
    f.flag("--enable-prefix-caching", caching, "reuse");
    f.count("--loud,-l", verbosity, "louder");
    f.option("--text,-t,--label", text, "a text");
    f.option("--max-model-len", whole, "length").range(config::at_least(1));
    f.option("--small", small, "small");
    f.option("--utilization", real, "share").range(config::above_up_to(0, 1));
    f.option("--size", size, "a size");
    f.option("--kv-cache-memory-bytes", pool, "the pool");
    f.option("--span", span, "a time");
    f.option("--rate", rate, "a rate");
    f.option("--put", sets, "repeatable");
    f.option("--dtype", word, "a word").words({"auto", "fp8", "bfloat16"});
    f.positional("FIRST", first, "one word").require();
    f.positional("OTHERS", others, "more words");
  }
  std::string parse(std::vector<std::string> words) {
    Flags flags;
    describe(flags);
    try {
      cli::parse(words, flags, "sample");
    } catch (const UsageError& e) {
      return e.diagnostic().code + ": " + e.diagnostic().message + " | " + e.diagnostic().hint;
    }
    return "ok";
  }
};

}  // namespace

TEST_CASE("flags and options of every type are read") {
  Sample s;
  CHECK(s.parse({"--enforce-eager", "-ll", "--text=a b", "--max-model-len", "4096", "--small=-3",
                 "--utilization", "0.9", "--size", "80GiB", "--kv-cache-memory-bytes", "1 KiB",
                 "--span", "20us", "--rate", "450GB/s", "--dtype", "fp8", "x"}) == "ok");
  CHECK(s.eager);
  CHECK(s.verbosity == 2);
  CHECK(s.text == "a b");
  CHECK(s.whole == 4096);
  CHECK(s.small == -3);
  CHECK(s.real == 0.9);
  CHECK(s.size == Bytes(80 * gib));
  CHECK(s.pool == Bytes(1024));
  CHECK(s.span == Duration(20'000));
  CHECK(s.rate == Bandwidth(450e9));
  CHECK(s.word == "fp8");
  CHECK(s.first == "x");
}

TEST_CASE("an option that is not given leaves the default and an unset optional") {
  Sample s;
  CHECK(s.parse({"x"}) == "ok");
  CHECK(s.text == "unset");
  CHECK(!s.pool);
  CHECK(!s.caching);
  CHECK(!s.eager);
}

TEST_CASE("every spelling of an option is the same option") {
  Sample s;
  CHECK(s.parse({"-t", "a", "x"}) == "ok");
  CHECK(s.text == "a");
  CHECK(s.parse({"--label", "b", "x"}) == "ok");
  CHECK(s.text == "b");
}

TEST_CASE("an optional flag has a negative form") {
  Sample s;
  CHECK(s.parse({"--enable-prefix-caching", "x"}) == "ok");
  CHECK(s.caching == true);
  CHECK(s.parse({"--no-enable-prefix-caching", "x"}) == "ok");
  CHECK(s.caching == false);
}

TEST_CASE("a repeatable option takes one word each time and leaves the following words alone") {
  Sample s;
  CHECK(s.parse({"--put", "a=1", "first", "--put", "b=2", "second"}) == "ok");
  CHECK(s.sets == std::vector<std::string>{"a=1", "b=2"});
  CHECK(s.first == "first");
  CHECK(s.others == std::vector<std::string>{"second"});
}

TEST_CASE("a lone dash is a word and everything after two dashes is words") {
  Sample s;
  CHECK(s.parse({"-", "--", "--text", "-x"}) == "ok");
  CHECK(s.first == "-");
  CHECK(s.others == std::vector<std::string>{"--text", "-x"});
}

TEST_CASE("an unknown flag is named with the nearest known one") {
  Sample s;
  CHECK(s.parse({"x", "--max-model-length", "9"}) ==
        "usage-unknown-flag: unknown flag --max-model-length | did you mean --max-model-len?");
  CHECK(s.parse({"x", "--kv_cache_memory_bytes=3"}) ==
        "usage-unknown-flag: unknown flag --kv_cache_memory_bytes | did you mean "
        "--kv-cache-memory-bytes?");
  CHECK(s.parse({"x", "--zzz"}) ==
        "usage-unknown-flag: unknown flag --zzz | see kvsim help sample");
  CHECK(s.parse({"x", "-z"}).starts_with("usage-unknown-flag: unknown flag -z"));
}

TEST_CASE("a value that cannot be read names its flag and what was expected") {
  Sample s;
  CHECK(s.parse({"x", "--kv-cache-memory-bytes", "3xyz"}) ==
        "usage-value: --kv-cache-memory-bytes: expected a size such as 80GiB, 40GB or a number of "
        "bytes, found \"3xyz\" | ");
  CHECK(s.parse({"x", "--max-model-len", "3.5"}) ==
        "usage-value: --max-model-len: expected a whole number, found \"3.5\" | ");
  CHECK(s.parse({"x", "--max-model-len", "-7"}) ==
        "usage-value: --max-model-len: expected a whole number of at least 1, found \"-7\" | ");
  CHECK(s.parse({"x", "--max-model-len", "9223372036854775808"})
            .starts_with("usage-value: --max-model-len"));
  CHECK(s.parse({"x", "--small", "2147483648"})
            .starts_with("usage-value: --small: expected a whole number"));
  CHECK(s.parse({"x", "--utilization", "0"}) ==
        "usage-value: --utilization: expected a number above 0 and at most 1, found \"0\" | ");
  CHECK(s.parse({"x", "--utilization", "nan"})
            .starts_with("usage-value: --utilization: expected a number"));
  CHECK(s.parse({"x", "--span", "1parsec"}).starts_with("usage-value: --span: expected a time"));
  CHECK(s.parse({"x", "--rate", "fast"}).starts_with("usage-value: --rate: expected a bandwidth"));
  CHECK(s.parse({"x", "--enforce-eager=3"}).starts_with("usage-value: --enforce-eager"));
  CHECK(s.parse({"x", "--text", ""}) == "ok");
}

TEST_CASE("a word outside a closed list gets the nearest of the list") {
  Sample s;
  CHECK(s.parse({"x", "--dtype", "fp9"}) ==
        "usage-value: --dtype cannot be \"fp9\" | did you mean \"fp8\"?");
  CHECK(s.parse({"x", "--dtype", "zzz"}) ==
        "usage-value: --dtype cannot be \"zzz\" | expected one of auto, fp8, bfloat16");
}

TEST_CASE("a missing value is told whether the line ends or another flag follows") {
  Sample s;
  CHECK(s.parse({"x", "--text"}) ==
        "usage-missing-value: --text needs a value | see kvsim help sample");
  CHECK(s.parse({"x", "--text", "--size", "3"})
            .starts_with("usage-missing-value: --text needs a value, found the flag --size"));
}

TEST_CASE("an equal sign with nothing behind it does not take the next word") {
  Sample s;
  CHECK(s.parse({"--text=", "x"}) ==
        "usage-missing-value: --text= needs a value | see kvsim help sample");
  CHECK(s.parse({"--put", "a=", "x"}) == "ok");
  CHECK(s.sets == std::vector<std::string>{"a="});
}

TEST_CASE("brackets and commas in a value are part of it") {
  Sample s;
  CHECK(s.parse({"--text", "[a,b]", "--put", "x=[1,2]", "--put", "[c,d]", "x"}) == "ok");
  CHECK(s.text == "[a,b]");
  CHECK(s.sets == std::vector<std::string>{"x=[1,2]", "[c,d]"});
}

TEST_CASE("an option given twice is refused") {
  Sample s;
  CHECK(s.parse({"x", "--text", "a", "-t", "b"}) ==
        "usage-twice: --text is given 2 times | keep one");
}

TEST_CASE("missing and further words are named") {
  Sample s;
  CHECK(s.parse({}) == "usage-missing: sample needs FIRST: one word | see kvsim help sample");
  Flags flags;
  std::string only;
  flags.positional("ONLY", only, "one");
  const std::vector<std::string> words{"a", "b"};
  CHECK_THROWS_WITH_AS(cli::parse(words, flags, "sample"), "sample takes no further word: \"b\"",
                       UsageError);
}

TEST_CASE("no command describes a flag twice or takes the name of a global one") {
  for (const CommandEntry& entry : commands()) {
    const auto command = entry.make();
    Globals globals;
    Flags flags;
    command->describe(flags);
    describe(flags, globals);
    std::vector<std::string> names;
    for (const FlagSpec& spec : flags.list()) {
      if (spec.positional) continue;
      names.push_back(spec.name);
      names.insert(names.end(), spec.aliases.begin(), spec.aliases.end());
    }
    for (const std::string& name : names) {
      INFO(entry.name, " ", name);
      CHECK(std::count(names.begin(), names.end(), name) == 1);
      CHECK(name.starts_with('-'));
    }
  }
}

TEST_CASE("every command and flag has a text and its summary has no full stop") {
  for (const CommandEntry& entry : commands()) {
    INFO(entry.name);
    CHECK(!entry.summary.empty());
    CHECK(!entry.summary.ends_with('.'));
    const auto command = entry.make();
    Flags flags;
    command->describe(flags);
    CHECK(!flags.examples().empty());
    for (const FlagSpec& spec : flags.list()) {
      INFO(spec.name);
      CHECK(!spec.doc.empty());
    }
  }
}
