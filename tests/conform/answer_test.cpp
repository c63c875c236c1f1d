#include "conform/answer.h"

#include <doctest/doctest.h>

using kvsim::config::Document;
using kvsim::conform::Answer;
using kvsim::conform::Answers;

namespace {

bool matches(const Answer& answer, const char* json) {
  const Document document = Document::parse(json, "record");
  return answer.matches(document.root());
}

}  // namespace

TEST_SUITE("conform/answer") {
  TEST_CASE("an answer matches the record that says the same and no other") {
    CHECK(matches(3, "3"));
    CHECK_FALSE(matches(3, "4"));
    CHECK(matches(3, "3.0"));
    CHECK(matches(0.0, "0"));
    CHECK(matches("lru", "\"lru\""));
    CHECK_FALSE(matches("lru", "\"arc\""));
    CHECK(matches(Answer(), "null"));
    CHECK_FALSE(matches(Answer(), "0"));
    CHECK_FALSE(matches(0, "null"));
  }

  TEST_CASE("a truth value is no number") {
    CHECK(matches(true, "true"));
    CHECK_FALSE(matches(true, "1"));
    CHECK_FALSE(matches(1, "true"));
    CHECK_FALSE(matches(false, "null"));
  }

  TEST_CASE("numbers with a fraction agree within one in a billion") {
    CHECK(matches(1.0 / 3, "0.333333333"));
    CHECK_FALSE(matches(1.0 / 3, "0.33333"));
    CHECK_FALSE(matches(std::int64_t{1} << 60, "1152921504606846977"));
  }

  TEST_CASE("lists are compared in order and to their ends") {
    const Answer blocks = Answer::List{Answer::list(std::vector<int>{1, 2}), Answer::List{}};
    CHECK(matches(blocks, "[[1,2],[]]"));
    CHECK_FALSE(matches(blocks, "[[2,1],[]]"));
    CHECK_FALSE(matches(blocks, "[[1,2,3],[]]"));
    CHECK_FALSE(matches(blocks, "[[1,2]]"));
    CHECK(blocks.json() == "[[1,2],[]]");
  }

  TEST_CASE("maps are compared in any order and an entry of zero is none") {
    const Answer map = Answer::Map{{"a", 1}, {"b", 2}, {"c", 0}};
    CHECK(matches(map, R"({"b":2,"a":1})"));
    CHECK(matches(map, R"({"b":2,"d":0,"a":1})"));
    CHECK_FALSE(matches(map, R"({"a":1})"));
    CHECK_FALSE(matches(map, R"({"a":1,"b":2,"d":3})"));
    CHECK_FALSE(matches(map, R"({"a":2,"b":1})"));
    CHECK_FALSE(matches(map, "[]"));
    CHECK(matches(Answer::Map{}, "{}"));
    CHECK_FALSE(matches(Answer::Map{}, R"({"a":1})"));
    CHECK(map.json() == R"({"a":1,"b":2,"c":0})");
  }

  TEST_CASE("a field that was not observed is null") {
    Answers got;
    got.set("hit", 3);
    got.set("hit", 4);
    CHECK(matches(got["hit"], "4"));
    CHECK(got["ok"].is_null());
    got.clear();
    CHECK(got["hit"].is_null());
  }
}
