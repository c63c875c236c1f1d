#include <doctest/doctest.h>

#include <string>

#include "workload/shared_data.h"
#include "workload/spec.h"
#include "workload/text.h"
#include "workload/trace/writer.h"

#include "config/document.h"

using namespace kvsim;
using namespace kvsim::workload;

namespace {

std::string written(RequestSource& source, std::string_view format, Loss loss = Loss::refuse,
                    std::vector<std::string>* losses = nullptr) {
  WriteOptions options;
  options.loss = loss;
  const auto writer = make_trace_writer(format, options);
  std::string text;
  RequestSpec request;
  writer->begin(text);
  while (source.list(request)) writer->add(request, text);
  writer->end(text);
  if (losses) *losses = writer->losses();
  return text;
}

std::unique_ptr<RequestSource> generated(const std::string& kind, const std::string& arrival,
                                         const std::string& more, std::uint64_t seed) {
  const auto file = read_workload_file(config::Document::parse(
      R"({"schema":"kvsim.workload/1","generate":{"kind":")" + kind +
          R"(","requests":150,"arrival":)" + arrival +
          R"(,"input":{"distribution":"lognormal","median":300,"sigma":1.2},"output":{"distribution":"uniform","min":1,"max":90})" +
          more + "}}",
      "spec"));
  return generate(file.generate, seed);
}

const std::string poisson = R"({"process":"poisson","rate":3})";
const std::string chat =
    R"(,"chat":{"turns":{"distribution":"uniform","min":1,"max":5},"think":{"distribution":"exponential","time":"7s"}},"system":{"count":3,"tokens":{"value":100}})";
const std::string agent =
    R"(,"agent":{"steps":{"value":4},"tool_tokens":{"value":80},"tool_time":{"time":"1s"},"branch_probability":0.5})";

}  // namespace

TEST_SUITE("workload/writer") {
  TEST_CASE("a request list that was written reads as the same requests") {
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      for (const auto& [kind, arrival, more] :
           {std::tuple{"independent", poisson, std::string()},
            {"chat", poisson, chat},
            {"agent", poisson, agent},
            {"chat", std::string(R"({"process":"closed","clients":4,"think":{"time":"1s"}})"),
             chat}}) {
        const std::string text = written(*generated(kind, arrival, more, seed), "kvsim");
        CHECK(requests_of(text) == everything(*generated(kind, arrival, more, seed)));
        CHECK(written(*open_trace_text(text, "kvsim", "t"), "kvsim") == text);
      }
  }

  TEST_CASE("everything that a request can say survives") {
    const std::string text =
        "{\"id\":\"b\",\"arrival_s\":3.000000001,\"prompt\":[[\"a/"
        "out\",5,2],[\"b\",7]],\"output_tokens\":4,\"max_tokens\":9,\"priority\":-3,"
        "\"salt\":\"#00000000000000ff\",\"adapter\":\"l\",\"session\":\"s\\\"1\",\"after\":\"a\","
        "\"think_s\":0.25}\n"
        "{\"id\":\"a\",\"arrival_s\":1,\"prompt\":[[\"a\",1]],\"output_tokens\":4}\n";
    const auto before = requests_of(text);
    const std::string again = written(*open_trace_text(text, "kvsim", "t"), "kvsim");
    CHECK(requests_of(again) == before);
    CHECK(before[0].salt == 255);
    CHECK(before[0].adapter == content_id("l"));
    CHECK(again.find("\"after\":\"a\"") != std::string::npos);
  }

  TEST_CASE("formats of lengths read as the same lengths and times") {
    const auto source = [] {
      return generated("independent", R"({"process":"constant","rate":7})", "", 3);
    };
    for (const char* format : {"azure", "vidur"})
      CHECK(requests_of(written(*source(), format), format).size() == 150);
    const auto original = everything(*source());
    CHECK(requests_of(written(*source(), "azure"), "azure") == original);
    CHECK(requests_of(written(*source(), "vidur"), "vidur") == original);
  }

  TEST_CASE("what a format cannot say is refused or counted") {
    CHECK_THROWS_AS(written(*generated("chat", poisson, chat, 1), "azure"), InputError);
    CHECK_THROWS_AS(written(*generated("chat", poisson, chat, 1), "mooncake"), InputError);
    CHECK_THROWS_AS(written(*generated("independent", poisson, "", 1), "lengths"), InputError);
    std::vector<std::string> losses;
    const auto flat = without_followers(*generated("chat", poisson, chat, 1));
    const std::string text = written(*flat, "azure", Loss::count, &losses);
    CHECK(requests_of(text, "azure").size() == 150);
    CHECK(losses.size() == 4);
    written(*generated("chat", poisson, chat, 1), "mooncake", Loss::count, &losses);
    CHECK(losses.size() == 2);
    CHECK_THROWS_AS(make_trace_writer("azur", {}), InputError);
  }

  TEST_CASE("sharing inside a block is noticed and whole blocks are not") {
    const auto two = [](int shared) {
      return "{\"id\":\"a\",\"arrival_s\":0,\"prompt\":[[\"s\"," + std::to_string(shared) +
             "],[\"a\",600]],\"output_tokens\":1}\n"
             "{\"id\":\"b\",\"arrival_s\":0,\"prompt\":[[\"s\"," +
             std::to_string(shared) + "],[\"b\",600]],\"output_tokens\":1}\n";
    };
    std::vector<std::string> losses;
    const std::string whole = written(*open_trace_text(two(1024), "kvsim", "t"), "mooncake");
    CHECK(whole.find("\"hash_ids\": [0, 1, 2, 3]") != std::string::npos);
    CHECK(whole.find("\"hash_ids\": [0, 1, 4, 5]") != std::string::npos);
    written(*open_trace_text(two(1000), "kvsim", "t"), "mooncake", Loss::count, &losses);
    CHECK(losses ==
          std::vector<std::string>{
              "lost in 1 requests: a prefix shared up to the middle of a 512-token block"});
  }

  TEST_CASE("the shipped trace is what its description makes") {
    const std::string scenarios = std::string(KVSIM_SOURCE_DIR) + "/scenarios/";
    const auto file = read_workload_file(config::Document::load(scenarios + "workloads/chat.json"));
    TraceOptions options;
    options.file = scenarios + "traces/chat.jsonl";
    const auto made = everything(*generate(file.generate, static_cast<std::uint64_t>(file.seed)));
    CHECK(everything(*open_trace(options)) == made);
  }

  TEST_CASE("decimals are exact") {
    CHECK(decimal(0, 9) == "0");
    CHECK(decimal(1, 9) == "0.000000001");
    CHECK(decimal(1'500'000'000, 9) == "1.5");
    CHECK(decimal(40'000'000, 6) == "40");
    CHECK(decimal(40'500'000, 6) == "40.5");
  }

  TEST_CASE("a shared Mooncake trace is written back byte for byte") {
    const auto path = shared_data("traces/mooncake_synthetic_trace.jsonl.gz");
    if (path.empty()) return;
    TraceOptions options;
    options.file = path;
    Lines lines(open_bytes(path), path);
    std::string original;
    for (std::string_view line; lines.next(line);) original.append(line) += '\n';
    CHECK(written(*open_trace(options), "mooncake") == original);
    const std::string list = written(*open_trace(options), "kvsim");
    CHECK(written(*open_trace_text(list, "kvsim", "t"), "mooncake") == original);
  }
}
