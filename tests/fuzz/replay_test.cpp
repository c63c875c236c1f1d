#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "config/document.h"
#include "fuzz/targets.h"
#include "random/stream.h"

// What the fuzzers start from, replayed with any compiler, and damaged in a fixed random way.

using namespace kvsim;

namespace {

std::vector<std::string> seeds(std::string_view target) {
  std::vector<std::filesystem::path> paths;
  const auto folder = std::filesystem::path(KVSIM_SOURCE_DIR) / "tests/fuzz/seeds" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) texts.push_back(config::read_file(path.string()));
  return texts;
}

std::string damaged(std::string text, random::Stream& stream) {
  static constexpr std::string_view favourites = "{}[]\",:0129-+.eE\n\r \0\xff#/";
  for (std::int64_t edits = stream.uniform_integer(1, 4); edits > 0 && !text.empty(); --edits) {
    const auto last = static_cast<std::int64_t>(text.size()) - 1;
    const auto at = static_cast<std::size_t>(stream.uniform_integer(0, last));
    const auto length = static_cast<std::size_t>(stream.uniform_integer(1, 12));
    const auto pick = static_cast<std::size_t>(
        stream.uniform_integer(0, static_cast<std::int64_t>(favourites.size()) - 1));
    switch (stream.uniform_integer(0, 4)) {
      case 0:
        text[at] = favourites[pick];
        break;
      case 1:
        text.insert(at, 1, favourites[pick]);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("every fuzz target reads its seeds and answers damaged ones with an input error") {
  for (const fuzz::Target& target : fuzz::targets()) {
    CAPTURE(std::string(target.name));
    const std::vector<std::string> texts = seeds(target.name);
    REQUIRE(!texts.empty());
    random::Stream stream(1, target.name);
    for (const std::string& text : texts) {
      CAPTURE(text);
      CHECK_NOTHROW(target.read(text));
      for (int i = 0; i < 300; ++i) {
        const std::string broken = damaged(text, stream);
        CAPTURE(broken);
        CHECK_NOTHROW(fuzz::run(target, broken));
      }
    }
  }
}
