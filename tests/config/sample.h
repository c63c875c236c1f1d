#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"

// A struct with one field of every kind, for the tests of the visitors.
namespace sample {

enum class Mode { fast, slow };
inline constexpr std::array<std::string_view, 2> mode_names{"fast", "slow"};

struct Part {
  std::string name;
  int count = 3;
};

struct Sample {
  bool flag = false;
  std::int64_t big = 5;
  int small = 1;
  double ratio = 0.5;
  std::string title = "none";
  kvsim::Bytes size{1024};
  kvsim::Duration wait{1'500'000'000};
  kvsim::Bandwidth speed{1e9};
  kvsim::config::RawValue model;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::vector<std::string> words;
  Mode mode = Mode::slow;
  std::optional<double> limit;
  std::optional<Part> spare;
  Part part;
  std::vector<Part> parts;
};

inline void fields(kvsim::config::FieldVisitor& v, Part& p) {
  v.field({"name", "its name", "", true}, p.name);
  v.field({"count", "how many"}, p.count, kvsim::config::at_least(1));
}

inline void fields(kvsim::config::FieldVisitor& v, Sample& s) {
  using namespace kvsim::config;
  v.field({"flag", "a switch"}, s.flag);
  v.field({"big", "a count", "large,huge"}, s.big, between(0, 1e18));
  v.field({"small", "a small count"}, s.small, at_least(0));
  v.field({"ratio", "a share"}, s.ratio, above_up_to(0, 1));
  v.field({"title", "a text"}, s.title);
  v.field({"size", "a size"}, s.size);
  v.field({"wait", "a time"}, s.wait, above(0));
  v.field({"speed", "a bandwidth"}, s.speed);
  v.field({"model", "a reference"}, s.model);
  v.field({"integers", "whole numbers"}, s.integers, at_least(0));
  v.field({"numbers", "numbers"}, s.numbers);
  v.field({"words", "words"}, s.words);
  v.choice({"mode", "a mode"}, s.mode, mode_names);
  v.field({"limit", "a limit", "cap"}, s.limit, at_least(0));
  v.object({"spare", "a spare part"}, s.spare);
  v.object({"part", "the part", "", true}, s.part);
  v.list({"parts", "more parts"}, s.parts);
}

}  // namespace sample
