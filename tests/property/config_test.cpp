#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "config/document.h"
#include "config/echo.h"
#include "config/reader.h"
#include "config/sample.h"
#include "property/pinned.h"

using namespace kvsim;
using namespace kvsim::config;

namespace {

std::string text() { return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)); }

sample::Part part() {
  sample::Part p;
  p.name = text(), p.count = *rc::gen::inRange(1, 1 << 30);
  return p;
}

sample::Sample any_sample() {
  sample::Sample s;
  s.flag = *rc::gen::arbitrary<bool>();
  s.big = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000'000'000);
  s.small = *rc::gen::inRange(0, 1 << 30);
  s.ratio = *rc::gen::inRange(1, 1001) / 1000.0;
  s.title = text();
  s.size = Bytes(*rc::gen::inRange<std::int64_t>(0, INT64_MAX));
  s.wait = Duration(*rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000'000));
  s.speed = Bandwidth(1.0 + *rc::gen::inRange(0, 2'000'000'000));
  s.integers =
      *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, INT64_MAX));
  const auto mantissas = *rc::gen::container<std::vector<int>>(rc::gen::arbitrary<int>());
  for (const int m : mantissas) s.numbers.push_back(std::ldexp(m, *rc::gen::inRange(-300, 300)));
  s.words = {text(), text()};
  s.mode = *rc::gen::arbitrary<bool>() ? sample::Mode::fast : sample::Mode::slow;
  if (*rc::gen::arbitrary<bool>()) s.limit = *rc::gen::inRange(0, 1000) / 7.0;
  if (*rc::gen::arbitrary<bool>()) s.spare = part();
  s.part = part();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) s.parts.push_back(part());
  return s;
}

// A random JSON text of limited depth, with blanks in odd places.
std::string any_json(int depth) {
  const auto blank = [] {
    return std::string(static_cast<std::size_t>(*rc::gen::inRange(0, 3)),
                       *rc::gen::element(' ', '\n', '\t'));
  };
  const int kind = *rc::gen::inRange(0, depth > 0 ? 7 : 5);
  std::string out = blank();
  switch (kind) {
    case 0:
      out += "null";
      break;
    case 1:
      out += *rc::gen::arbitrary<bool>() ? "true" : "false";
      break;
    case 2:
      out += std::to_string(*rc::gen::arbitrary<std::int64_t>());
      break;
    case 3:
      out +=
          fmt::format("{:e}", std::ldexp(*rc::gen::arbitrary<int>(), *rc::gen::inRange(-60, 60)));
      break;
    case 4:
      out += json_string(text());
      break;
    case 5: {
      out += '[';
      for (int i = 0, n = *rc::gen::inRange(0, 4); i < n; ++i)
        out += (i ? "," : "") + any_json(depth - 1);
      out += ']';
      break;
    }
    default: {
      out += '{';
      for (int i = 0, n = *rc::gen::inRange(0, 4); i < n; ++i)
        out += (i ? "," : "") + blank() + json_string(std::to_string(i) + text()) + blank() + ":" +
               any_json(depth - 1);
      out += '}';
    }
  }
  return out + blank();
}

}  // namespace

TEST_CASE("INV-4 reading an echo gives the struct that was echoed") {
  KVSIM_PROPERTY("echo", [] {
    const sample::Sample s = any_sample();
    const std::string json = echo_json(s);
    const Document document = Document::parse(json, "echo");
    sample::Sample again;
    Diagnostics diagnostics;
    read(document.root(), again, diagnostics);
    RC_ASSERT(diagnostics.size() == 0u);
    RC_ASSERT(echo_json(again) == json);
    RC_ASSERT(again.wait == s.wait);
    RC_ASSERT(again.numbers == s.numbers);
  });
}

TEST_CASE("INV-5 a document that is written and read again is the same document") {
  KVSIM_PROPERTY("JSON", [] {
    const Document once = Document::parse(any_json(4), "t");
    const std::string json = once.root().json();
    RC_ASSERT(Document::parse(json, "t").root().json() == json);
  });
}

TEST_CASE("INV-6 every value points at its own text") {
  KVSIM_PROPERTY("positions", [] {
    const std::string source = any_json(4);
    const Document document = Document::parse(source, "t");
    std::vector<std::size_t> starts{0};
    for (std::size_t i = 0; i < source.size(); ++i)
      if (source[i] == '\n') starts.push_back(i + 1);
    const std::function<void(Value)> visit = [&](Value v) {
      const Diagnostic d = v.diagnostic("c", "m");
      const std::size_t at =
          starts.at(static_cast<std::size_t>(d.line - 1)) + static_cast<std::size_t>(d.column - 1);
      if (v.size() > 0 || v.is_array() || v.is_object()) {
        RC_ASSERT(source.at(at) == (v.is_array() ? '[' : '{'));
      } else {
        RC_ASSERT(Document::parse(source.substr(at, static_cast<std::size_t>(d.width)), "part")
                      .root()
                      .json() == v.json());
      }
      for (std::size_t i = 0; i < v.size(); ++i) visit(v.at(i));
    };
    visit(document.root());
  });
}
