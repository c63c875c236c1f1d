#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "support/process.h"

using kvsim::testing::Outcome;

namespace {

Outcome kvbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), KVBENCH_PROGRAM);
  return kvsim::testing::run_program(arguments);
}

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = std::filesystem::temp_directory_path() / ("kvbench_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace

TEST_CASE("kvbench exits with 2 and names the nearest flag") {
  const Outcome o = kvbench({"--quik"});
  CHECK(o.status == 2);
  CHECK(o.err.find("the nearest is --quick") != o.err.npos);
  CHECK(o.out.empty());
}

TEST_CASE("kvbench exits with 77 and a reason where there is no GPU") {
  const Outcome o = kvbench({"--backend", "gpu", "--check-only", "--filter", "copy/"});
  if (o.status == 0) {
    MESSAGE("skipped: this machine has a GPU");
    return;
  }
  CHECK(o.status == 77);
  CHECK(o.err.find("next: kvbench --backend cpu --quick") != o.err.npos);
}

TEST_CASE("kvbench exits with 4 where it cannot write and leaves nothing behind") {
  const auto folder = fresh_folder("unwritable");
  std::filesystem::create_directory(folder / "taken");
  const Outcome o = kvbench(
      {"--backend", "cpu", "--quick", "--filter", "copy/", "-o", (folder / "taken").string()});
  CHECK(o.status == 4);
  CHECK(o.err.find("cases checked") == o.err.npos);  // told before the work
  CHECK(kvbench({"--backend", "cpu", "--quick", "-o", (folder / "none" / "out").string()}).status ==
        4);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
}

TEST_CASE("without -o the document alone is on stdout") {
  const Outcome o = kvbench({"--backend", "cpu", "--quick", "--filter", "copy/"});
  CHECK(o.status == 0);
  const auto document = nlohmann::json::parse(o.out);
  CHECK(document["schema"] == "kvsim.kvbench/1");
  CHECK(document["results"].size() >= 2);
  for (const auto& result : document["results"]) CHECK(result["kernel"] == "copy");
}

TEST_CASE("a spent budget leaves every case skipped and is no failure") {
  const Outcome o = kvbench({"--backend", "cpu", "--quick", "--budget-s", "1e-9"});
  CHECK(o.status == 0);
  const auto document = nlohmann::json::parse(o.out);
  std::size_t skipped = 0;
  for (const auto& result : document["results"]) {
    CHECK(result["status"] != "ok");
    skipped += result["status"] == "skipped_budget" ? 1 : 0;
  }
  CHECK(document["notes"].back() == std::to_string(skipped) + " cases were not reached: budget.");
  CHECK(o.err.find("nothing failed, " + std::to_string(skipped) + " not reached") != o.err.npos);
}

TEST_CASE("the list has every kind of case") {
  const Outcome o = kvbench({"--list"});
  CHECK(o.status == 0);
  for (const char* kind : {"quick copy/", "edge copy/", "bench copy/"})
    CHECK(o.out.find(kind) != o.out.npos);
  CHECK(kvbench({"--list", "--filter", "no such case"}).out.empty());
}

TEST_CASE("a filter that leaves no case is a usage error with the nearest ids") {
  const Outcome near = kvbench({"--backend", "cpu", "--quick", "--filter", "copy/unroled4"});
  CHECK(near.status == 2);
  CHECK(near.out.empty());
  CHECK(near.err.find("the nearest are\n  copy/unrolled4/") != near.err.npos);
  const Outcome far = kvbench({"--list", "--filter", "qqqqqqqqqq"});
  CHECK(far.status == 2);
  CHECK(far.err.find("nearest") == far.err.npos);
  // A gigabyte is for the timed matrix, which the executor does not take.
  const Outcome timed = kvbench({"--backend", "cpu", "--filter", "read/unrolled4/N1073741824"});
  CHECK(timed.status == 2);
  CHECK(timed.err.find("1 that it leaves out have") != timed.err.npos);
}

TEST_CASE("a filter that is the name of a family lets its cases through") {
  const Outcome o = kvbench({"--list", "--quick", "--filter", "stream"});
  CHECK(o.status == 0);
  CHECK(o.out.find("quick copy/") != o.out.npos);
  CHECK(o.out.find("quick read/") != o.out.npos);
  CHECK(o.out.find("decode_paged/") == o.out.npos);
}

TEST_CASE("the check for machines with a GPU ends where kvbench measured nothing") {
  const auto folder = fresh_folder("gpu_check_ends");
  const std::string fake = (folder / "fake").string(), out = (folder / "out").string();
  std::ofstream(fake) << "#!/bin/sh\n[ \"$1\" = --version ] && echo nvcc 12 && exit 0\n"
                         "exit $FAKE_STATUS\n";
  std::filesystem::permissions(fake, std::filesystem::perms::owner_all);
  const auto check = [&](const std::string& status) {
    std::filesystem::create_directories(out);
    std::ofstream(out + "/kvbench.json") << "of an earlier run";
    std::ofstream(out + "/notes.txt") << "of the user";
    const Outcome o = kvsim::testing::run_program(
        {"/usr/bin/env", "KVBENCH=" + fake, "FAKE_STATUS=" + status, "bash",
         std::string(KVSIM_SOURCE_DIR) + "/kernels/gpu_check.sh", out});
    CHECK(o.status == 1);
    CHECK(o.out.find("kvsim validate") == o.out.npos);
    CHECK_FALSE(std::filesystem::exists(out + "/kvbench.json"));
    CHECK(std::filesystem::exists(out + "/notes.txt"));
  };
  for (const char* status : {"2", "4", "124", "77"}) check(status);
  std::ifstream log(out + "/sanitizer.log");
  std::string why;
  std::getline(log, why);
  CHECK(why == "skipped: no GPU, and compute-sanitizer needs one");
}

TEST_CASE("the check for machines with a GPU prints its usage") {
  const std::string script = std::string(KVSIM_SOURCE_DIR) + "/kernels/gpu_check.sh";
  for (const char* flag : {"-h", "--help"}) {
    const Outcome o = kvsim::testing::run_program({"/usr/bin/env", "bash", script, flag});
    CHECK(o.status == 0);
    CHECK(o.out.starts_with("kernels/gpu_check.sh [OUTDIR]: "));
    CHECK(o.out.find("Exit codes: 0 all is right") != o.out.npos);
  }
  CHECK(kvsim::testing::run_program({"/usr/bin/env", "bash", script, "--bogus"}).status == 2);
}

TEST_CASE("a dash names stdout and no name at all is a usage error") {
  const Outcome o = kvbench({"--backend", "cpu", "--quick", "--filter", "copy/", "-o", "-"});
  CHECK(o.status == 0);
  CHECK(nlohmann::json::parse(o.out)["schema"] == "kvsim.kvbench/1");
  CHECK(kvbench({"--backend", "cpu", "-o", ""}).status == 2);
}

TEST_CASE("kvbench prints its help for -h") {
  const Outcome o = kvbench({"-h"});
  CHECK(o.status == 0);
  CHECK(o.out == kvbench({"--help"}).out);
}

TEST_CASE("the check for machines with a GPU writes its files and says where there is none") {
  const auto folder = fresh_folder("gpu_check");
  const Outcome o = kvsim::testing::run_program(
      {"/usr/bin/env", std::string("KVBENCH=") + KVBENCH_PROGRAM, "KVBENCH_FLAGS=--filter copy/",
       "bash", std::string(KVSIM_SOURCE_DIR) + "/kernels/gpu_check.sh", (folder / "out").string()});
  CHECK((o.status == 0 || o.status == 77));
  CHECK((o.out.find("no GPU: the executor checks") != o.out.npos) == (o.status == 77));
  for (const char* name : {"kvbench.json", "check.log", "environment.txt"})
    CHECK_MESSAGE(std::filesystem::exists(folder / "out" / name), name);
}

TEST_CASE("the check for machines with a GPU fails wherever compute-sanitizer does") {
  const auto folder = fresh_folder("gpu_check_sanitizers");
  const auto script = [&folder](const char* name, const std::string& text) {
    std::ofstream(folder / name) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  };
  // Stand-ins that say what they are told to: a kvbench that starts, and a sanitizer.
  script("kvbench", "echo kvbench 'nvcc 13' \"$@\"");
  script("compute-sanitizer", "echo \"$REPORT\"; exit $STATUS");
  const auto check = [&folder](const std::string& status, const std::string& report) {
    return kvsim::testing::run_program(
        {"/usr/bin/env", "PATH=" + folder.string() + ":" + std::getenv("PATH"),
         "KVBENCH=" + (folder / "kvbench").string(), "STATUS=" + status, "REPORT=" + report, "bash",
         std::string(KVSIM_SOURCE_DIR) + "/kernels/gpu_check.sh", (folder / "out").string()});
  };
  const Outcome silent = check("0", "");
  CHECK(silent.status == 0);
  CHECK(silent.out.find("--budget-s 150") != silent.out.npos);
  CHECK(check("124", "").status == 0);
  CHECK(check("124", "========= Invalid __global__ read").status == 1);
  CHECK(check("0", "========= ERROR SUMMARY: 2 errors").status == 1);
  const Outcome crashed = check("139", "");
  CHECK(crashed.status == 1);
  CHECK(crashed.out.find("memcheck: failed, exit 139") != crashed.out.npos);
  CHECK(check("77", "").status == 1);
  CHECK(check("1", "Device not supported").status == 0);
}

TEST_CASE("what is no plain file is written to and never replaced") {
  const Outcome o =
      kvbench({"--backend", "cpu", "--quick", "--filter", "copy/", "-o", "/dev/null"});
  CHECK(o.status == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}
