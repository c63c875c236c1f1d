#include <doctest/doctest.h>

#include <string>

#include "workload/text.h"

using namespace kvsim;
using namespace kvsim::workload;

namespace {

const std::string a = R"({"id":"a","arrival_s":0.5,"prompt":[["x",5]],"output_tokens":2})"
                      "\n";

std::string line(const std::string& id, const std::string& rest) {
  return "{\"id\":\"" + id + "\",\"prompt\":[[\"x\",5]],\"output_tokens\":2," + rest + "}\n";
}

}  // namespace

TEST_SUITE("workload/kvsim") {
  TEST_CASE("every field of a request is read") {
    const auto r = requests_of(
        R"({"id":"r0","arrival_s":0.25,"prompt":[["common",48],["r0",7,3]],"output_tokens":16,"max_tokens":20,"priority":-2,"salt":"s","adapter":"l","session":"chat"})"
        "\n"
        R"({"id":"r1","after":"r0","think_s":2.5,"arrival_s":1,"prompt":[["common",48]],"max_tokens":9})");
    REQUIRE(r.size() == 2);
    CHECK(r[0].id == "r0");
    CHECK(r[0].arrival == Time(250'000'000));
    CHECK(r[0].prompt ==
          std::vector<Span>{{content_id("common"), 0, 48}, {content_id("r0"), 3, 7}});
    CHECK(r[0].prompt_tokens == 55);
    CHECK(r[0].output_tokens == 16);
    CHECK(r[0].max_tokens == 20);
    CHECK(r[0].priority == -2);
    CHECK(r[0].salt == content_id("s"));
    CHECK(r[0].adapter == content_id("l"));
    CHECK(r[0].session == "chat");
    CHECK(r[0].after == -1);
    CHECK(r[1].after == 0);
    CHECK(r[1].think == to_duration(2.5));
    CHECK(r[1].output_tokens == 9);
    CHECK(r[1].salt == 0);
    CHECK(r[1].adapter == 0);
  }

  TEST_CASE("one of the output and the limit stands for both") {
    CHECK(requests_of(a)[0].max_tokens == 2);
    CHECK(problem_of(R"({"id":"a","arrival_s":0,"prompt":[["x",5]]})") == "missing-field 1:1 ");
  }

  TEST_CASE("adjacent spans of one content are merged") {
    const auto r = requests_of(
        R"({"id":"a","arrival_s":0,"prompt":[["x",5],["x",3,5],["x",2,0],["y",1]],"max_tokens":1})");
    CHECK(r[0].prompt == std::vector<Span>{{content_id("x"), 0, 8},
                                           {content_id("x"), 0, 2},
                                           {content_id("y"), 0, 1}});
    CHECK(r[0].prompt_tokens == 11);
  }

  TEST_CASE("the outputs of a request are a content that later prompts can name") {
    const auto r = requests_of(R"({"id":"b","arrival_s":0,"prompt":[["a/out",5]],"max_tokens":1})");
    CHECK(r[0].prompt[0].content == output_content("a"));
  }

  TEST_CASE("a name of a hash sign and 16 digits is the content itself") {
    CHECK(content_id("#00000000000000ff") == 255);
    CHECK(content_id(content_literal(content_id("x"))) == content_id("x"));
    CHECK(content_id("#00000000000000fg") != 255);
  }

  TEST_CASE("equal arrivals keep file order and blank lines do not count") {
    const auto r =
        requests_of(line("b", "\"arrival_s\":1") + "\n \n" + line("a", "\"arrival_s\":1"));
    REQUIRE(r.size() == 2);
    CHECK(r[0].id == "b");
    CHECK(r[1].index == 1);
  }

  TEST_CASE("a request that follows waits for the end of the other and its pause") {
    auto source = open_trace_text(line("b", "\"after\":\"a\",\"think_s\":2,\"arrival_s\":1") + a +
                                      line("c", "\"after\":\"a\""),
                                  "kvsim", "t");
    RequestSpec r;
    CHECK(source->remaining() == 3);
    REQUIRE(source->next(r));
    CHECK(r.id == "a");
    CHECK(r.index == 1);
    CHECK_FALSE(source->next(r));
    CHECK_FALSE(source->follow_up(r));
    CHECK(source->ended(1, Time(10'000'000'000)));
    REQUIRE(source->follow_up(r));
    CHECK(r.id == "b");
    CHECK(r.arrival == Time(12'000'000'000));
    CHECK(r.after == 1);
    REQUIRE(source->follow_up(r));
    CHECK(r.id == "c");
    CHECK(r.arrival == Time(10'000'000'000));
    CHECK_FALSE(source->follow_up(r));
    CHECK_FALSE(source->ended(0, Time(20'000'000'000)));
    CHECK(source->remaining() == 0);
  }

  TEST_CASE("a request that follows does not arrive before its own time") {
    auto source = open_trace_text(a + line("b", "\"after\":\"a\",\"arrival_s\":30"), "kvsim", "t");
    RequestSpec r;
    source->next(r);
    source->ended(0, Time(1));
    source->follow_up(r);
    CHECK(r.arrival == Time(30'000'000'000));
  }

  TEST_CASE("an unknown key is named with the nearest known one") {
    const auto problems = problems_of(a + line("b", "\"arrival_s\":1,\"promt\":[[\"x\",5]]"));
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].code == "unknown-key");
    CHECK(problems[0].line == 2);
    CHECK(problems[0].hint.find("\"prompt\"") != std::string::npos);
  }

  TEST_CASE("lengths must be positive and not absurd") {
    const auto with = [](const std::string& span) {
      return R"({"id":"a","arrival_s":0,"prompt":[)" + span + R"(],"max_tokens":1})";
    };
    CHECK(problem_of(with(R"(["x",-5])")) == "out-of-range 1:40 /prompt/0/1");
    CHECK(problem_of(with(R"(["x",0])")) == "out-of-range 1:40 /prompt/0/1");
    CHECK(problem_of(with(R"(["x",1000000000000000000])")) == "out-of-range 1:40 /prompt/0/1");
    CHECK(problem_of(with(R"(["x",18446744073709551616])")) == "out-of-range 1:40 /prompt/0/1");
    CHECK(problem_of(with(R"(["x",1000000000],["y",1])")) == "out-of-range 1:34 /prompt");
    CHECK(problem_of(with(R"(["x",1.5])")) == "wrong-type 1:40 /prompt/0/1");
    CHECK(problem_of(with(R"(["x",1,-1])")) == "out-of-range 1:42 /prompt/0/2");
    CHECK(problem_of(with(R"(["x"])")) == "wrong-type 1:35 /prompt/0");
    CHECK(problem_of(with(R"(["x",1,2,3])")) == "wrong-type 1:35 /prompt/0");
    CHECK(problem_of(with(R"(["",1])")) == "wrong-type 1:36 /prompt/0/0");
    CHECK(problem_of(with("")) == "wrong-type 1:34 /prompt");
    CHECK(problem_of(R"({"id":"a","arrival_s":0,"prompt":[["x",1]],"max_tokens":0})") ==
          "out-of-range 1:57 /max_tokens");
    CHECK(problem_of(R"({"id":"a","arrival_s":0,"prompt":[["x",1]],"output_tokens":-3})") ==
          "out-of-range 1:60 /output_tokens");
  }

  TEST_CASE("times must not be negative nor go back") {
    CHECK(problem_of(a + line("b", "\"arrival_s\":-3.0")) == "out-of-range 2:60 /arrival_s");
    CHECK(problem_of(a + line("b", "\"arrival_s\":0.25")) == "trace-time-order 2:60 /arrival_s");
    CHECK(problem_of(a + line("b", "\"arrival_s\":1e10")) == "out-of-range 2:60 /arrival_s");
    CHECK(problem_of(a + line("b", "\"arrival_s\":\"now\"")) == "wrong-type 2:60 /arrival_s");
    CHECK(problem_of(a + line("b", "\"priority\":1")) == "missing-field 2:1 ");
    CHECK(problem_of(a + line("b", "\"arrival_s\":1,\"think_s\":1")) ==
          "trace-think 2:62 /think_s");
    CHECK(problem_of(a + line("b", "\"after\":\"a\",\"arrival_s\":0.25")) == "0 problems");
  }

  TEST_CASE("ids are unlike one another") {
    CHECK(problem_of(a + line("a", "\"arrival_s\":1")) == "trace-duplicate-id 2:7 /id");
    CHECK(problem_of(R"({"arrival_s":0,"prompt":[["x",1]],"max_tokens":1})") ==
          "missing-field 1:1 ");
    CHECK(problem_of(R"({"id":7,"arrival_s":0,"prompt":[["x",1]],"max_tokens":1})") ==
          "wrong-type 1:7 /id");
  }

  TEST_CASE("what a request follows must exist and must not lead back to it") {
    CHECK(problem_of(a + line("b", "\"after\":\"zz\"")) == "trace-after-unknown 2:56 /after");
    CHECK(problem_of(line("a", "\"after\":\"a\"")) == "trace-after-circle 1:56 /after");
    CHECK(problem_of(a + line("b", "\"after\":\"c\"") + line("c", "\"after\":\"b\"")) ==
          "trace-after-circle 2:56 /after");
    CHECK(problem_of(line("c", "\"after\":\"b\"") + line("b", "\"after\":\"a\"") + a) ==
          "0 problems");
  }

  TEST_CASE("a cut line is an error at its place") {
    CHECK(problem_of(a + a.substr(0, 30)).starts_with("json-syntax 2:"));
    CHECK(problem_of(a.substr(0, a.size() - 1)) == "0 problems");
    CHECK(problem_of("[]") == "wrong-type 1:1 ");
    CHECK(problem_of("{\"id\":\"\xff\"}").starts_with("json-syntax 1:"));
  }

  TEST_CASE("a list without requests is an error") {
    CHECK(problems_of("").at(0).code == "trace-empty");
    CHECK(problems_of(" \n\n").at(0).message == "t: no requests");
    CHECK(problems_of("", "auto").at(0).code == "trace-empty");
  }

  TEST_CASE("at most twenty problems are collected") {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "{}\n";
    CHECK(problems_of(text).size() <= 20);
    CHECK(problems_of(text).size() >= 19);
  }

  TEST_CASE("auto recognises a request list") {
    CHECK(load_trace_text(a, {}, "t").format == "kvsim");
    CHECK(problems_of("nonsense\n", "auto").at(0).code == "trace-unrecognised");
    CHECK(problems_of(a, "kvsm").at(0).hint == "did you mean \"kvsim\"?");
  }
}

TEST_SUITE("workload/slice") {
  const std::string four = line("a", "\"arrival_s\":0") + line("b", "\"arrival_s\":10") +
                           line("f", "\"after\":\"b\",\"think_s\":4") +
                           line("c", "\"arrival_s\":20") + line("g", "\"after\":\"a\"") +
                           line("d", "\"arrival_s\":30");
  std::string sliced(const Slice& slice) {
    TraceOptions options;
    options.slice = slice;
    std::string out;
    for (const auto& r : everything(*load_trace_text(four, options, "t").source))
      out += r.id + "@" + std::to_string(r.arrival.nanoseconds() / 1'000'000'000) +
             (r.after >= 0 ? "<" + std::to_string(r.after) : "") + " ";
    return out;
  }

  TEST_CASE("a window counts time from its start and followers go with their leaders") {
    CHECK(sliced({}) == "a@0 b@10 f@0<1 c@20 g@0<0 d@30 ");
    Slice window;
    window.start = to_duration(10), window.end = to_duration(30);
    CHECK(sliced(window) == "b@0 f@0<0 c@10 ");
  }

  TEST_CASE("max requests takes the first ones") {
    Slice first;
    first.max_requests = 3;
    CHECK(sliced(first) == "a@0 b@10 f@0<1 ");
    first.max_requests = 100;
    CHECK(sliced(first) == "a@0 b@10 f@0<1 c@20 g@0<0 d@30 ");
  }

  TEST_CASE("a rate scale of two halves the times") {
    Slice fast;
    fast.rate_scale = 2;
    CHECK(sliced(fast) == "a@0 b@5 f@0<1 c@10 g@0<0 d@15 ");
  }

  TEST_CASE("a window that ends before it starts or holds nothing is an error") {
    Slice bad;
    bad.start = to_duration(5), bad.end = to_duration(5);
    CHECK_THROWS_AS(sliced(bad), InputError);
    bad.start = to_duration(500), bad.end.reset();
    CHECK_THROWS_AS(sliced(bad), InputError);
  }
}
