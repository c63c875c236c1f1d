#include "report/timeline.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "report/exporter.h"
#include "report/load.h"
#include "sample.h"

using namespace kvsim;
using namespace kvsim::report;

namespace {

struct File {
  std::string path;
  File(const char* name, const std::string& text)
      : path((std::filesystem::temp_directory_path() / name).string()) {
    config::write_file(path, text);
  }
  ~File() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("requests written as lines are read back one by one and together") {
  const File file("kvsim_timeline_requests.jsonl", render_requests(sample(), {}));
  const Loaded loaded = load_result(file.path);
  CHECK(loaded.requests_only);
  CHECK(render_csv(loaded.result, {}) == render_csv(sample(), {}));
  CHECK(load_request(file.path, "r,0").end == Time(4'000'000'000));
  CHECK_THROWS_AS(load_request(file.path, "r9"), InputError);
}

TEST_CASE("a result without requests says how to get them") {
  metrics::RunResult r = sample();
  r.requests.clear();
  const File file("kvsim_timeline_result.json", render_json(r, {}));
  try {
    load_request(file.path, "r1");
    FAIL("it was found");
  } catch (const InputError& e) {
    CHECK(e.diagnostics().at(0).code == "result-without-requests");
  }
}

TEST_CASE("a timeline tells chunks, preemption and decodes from a step log") {
  const File file(
      "kvsim_timeline_steps.jsonl",
      R"({"step":1,"time_s":0.0,"engine":0,"scheduled":{"a":32},"hits":{"a":16},"preempted":[],"finished":[]}
{"step":2,"time_s":1.0,"engine":0,"scheduled":{"a":16,"b":1},"hits":{},"preempted":[],"finished":[]}
{"step":3,"time_s":2.0,"engine":0,"scheduled":{"a":1},"hits":{},"preempted":[],"finished":[]}
{"step":4,"time_s":3.0,"engine":0,"scheduled":{"a":1},"hits":{},"preempted":[],"finished":[]}
{"step":5,"time_s":4.0,"engine":0,"scheduled":{"b":1},"hits":{},"preempted":["a"],"finished":[]}
{"step":6,"time_s":5.0,"engine":0,"scheduled":{"a":67},"hits":{},"preempted":[],"finished":["a"]}
)");
  metrics::RequestRow r;
  r.id = "a";
  r.prompt_tokens = 64;
  r.output_tokens = 4;
  r.cached_tokens = 16;
  r.preemptions = 1;
  r.first_token = Time(2'000'000'000);
  r.end = Time(6'000'000'000);
  CHECK(timeline(r, load_mentions(file.path, "a")) ==
        R"(a: 64 prompt tokens, 4 output tokens, pool 0, engine 0
       0.000 s arrives
       0.000 s first scheduled after 0 s in the queue; 16 tokens of the prompt found in the prefix
               cache
       0.000 s step 1: prefills 32 tokens; 16 found in the prefix cache
       +1.00 s step 2: prefills 16 tokens
       +2.00 s first token: TTFT 2.00 s, of which 2.00 s in prefill
       +2.00 s decodes: 2 steps
       +4.00 s step 5: preempted, gives up its blocks
       +5.00 s step 6: resumes, recomputes 67 tokens
       +6.00 s done: end to end 6.00 s, 1.33 s per token after the first, preempted 1 time
)");
}

TEST_CASE("a request that was never served has a timeline of two lines") {
  const std::string text = timeline(sample().requests.at(2), {});
  CHECK(text.find("never served: needs 20 blocks of 9") != std::string::npos);
}
