#include "report/load.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "report/exporter.h"
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
  const File file("kvsim_load_requests.jsonl", render_requests(sample(), {}));
  const Loaded loaded = load_result(file.path);
  CHECK(loaded.requests_only);
  CHECK(render_csv(loaded.result, {}) == render_csv(sample(), {}));
  CHECK(load_request(file.path, "r,0").end == Time(4'000'000'000));
  CHECK_THROWS_AS(load_request(file.path, "r9"), InputError);
}

TEST_CASE("a request is found in a result that keeps them") {
  Style style;
  style.detailed = true;
  const File file("kvsim_load_detailed.json", render_json(sample(), style));
  CHECK_FALSE(load_result(file.path).requests_only);
  CHECK(load_request(file.path, "r1").prompt_tokens == 40);
  CHECK_THROWS_AS(load_request(file.path, "r9"), InputError);
}

TEST_CASE("a result without requests says how to get them") {
  const File file("kvsim_load_result.json", render_json(sample(), {}));
  try {
    load_request(file.path, "r1");
    FAIL("it was found");
  } catch (const InputError& e) {
    CHECK(e.diagnostics().at(0).code == "result-without-requests");
  }
}

TEST_CASE("request ids need no care") {
  metrics::RunResult r = sample();
  r.requests[0].id = "a\"b\\\n\xc3\xa9";
  const File file("kvsim_load_ids.jsonl", render_requests(r, {}));
  CHECK(load_request(file.path, r.requests[0].id).index == 0);
}
