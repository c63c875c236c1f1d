#include "report/step_log.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>

#include "config/document.h"
#include "diag/diagnostic.h"

using namespace kvsim;
using namespace kvsim::report;

namespace {

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / "kvsim_step_log_test.jsonl").string();
  ~TemporaryFile() { std::remove(path.c_str()); }
};

}  // namespace

TEST_CASE("a step is one line of JSON") {
  const TemporaryFile file;
  {
    StepLog log(file.path);
    log.begin(1, Time(0), 0);
    log.scheduled("r0", 64);
    log.scheduled("r1", 1);
    log.hit("r1", 96);
    log.preempted("r2");
    log.finished("r0");
    log.end(2, 0, 9);
    log.begin(2, Time(1'250'000'000), 0);
    log.end(0, 3, 10);
    log.commit();
  }
  CHECK(
      config::read_file(file.path) ==
      R"({"step":1,"time_s":0.0,"engine":0,"scheduled":{"r0":64,"r1":1},"hits":{"r1":96},"preempted":["r2"],"finished":["r0"],"running":2,"waiting":0,"free_blocks":9}
{"step":2,"time_s":1.25,"engine":0,"scheduled":{},"hits":{},"preempted":[],"finished":[],"running":0,"waiting":3,"free_blocks":10}
)");
}

TEST_CASE("steps of equal time are ordered by engine") {
  const TemporaryFile file;
  {
    StepLog log(file.path);
    for (const int engine : {2, 0, 1}) {
      log.begin(1, Time(5), engine);
      log.end(0, 0, 0);
    }
    log.begin(2, Time(6), 0);
    log.end(0, 0, 0);
    log.commit();
  }
  const std::string text = config::read_file(file.path);
  CHECK(text.find("\"engine\":0") < text.find("\"engine\":1"));
  CHECK(text.find("\"engine\":1") < text.find("\"engine\":2"));
  CHECK(text.find("\"engine\":2") < text.find("\"step\":2"));
}

TEST_CASE("ids are escaped") {
  std::string out;
  append_json_string(out, "a\"b\\c\n");
  CHECK(config::Document::parse(out, "id").root().string() == "a\"b\\c\n");
}

TEST_CASE("times have as many decimals as they need and at least one") {
  const auto text = [](std::int64_t ns) {
    std::string out;
    append_seconds(out, Time(ns));
    return out;
  };
  CHECK(text(0) == "0.0");
  CHECK(text(1) == "0.000000001");
  CHECK(text(1'500'000'000) == "1.5");
  CHECK(text(12'000'000'000) == "12.0");
  CHECK(text(-250'000'000) == "-0.25");
}

TEST_CASE("a log that is not committed leaves no file") {
  const TemporaryFile file;
  {
    StepLog log(file.path);
    log.begin(1, Time(0), 0);
    log.end(0, 0, 0);
  }
  CHECK_FALSE(std::filesystem::exists(file.path));
}

TEST_CASE("a log in a folder that is missing is found at once") {
  CHECK_THROWS_AS(StepLog("/nowhere/at/all.jsonl"), IoError);
}
