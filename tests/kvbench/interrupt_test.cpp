#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernels/bench/progress.h"

using namespace std::chrono_literals;

namespace {

// A kvbench with minutes of work whose progress goes to a file.
class Running {
 public:
  explicit Running(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() / ("kvbench_" + name)) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const std::string document = (folder_ / "out.json").string(), log = (folder_ / "log").string();
    child_ = fork();
    if (child_ == 0) {
      const int file = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
      dup2(file, 2);
      execl(KVBENCH_PROGRAM, "kvbench", "--backend", "cpu", "-o", document.c_str(), nullptr);
      _exit(127);
    }
  }
  // Until a family is done, so that the handler is there and much is left to do.
  void wait_for_progress() const {
    for (int i = 0; i < 1200 && text("log").find("cases checked") == std::string::npos; ++i)
      std::this_thread::sleep_for(50ms);
  }
  void send(int signal) const { kill(child_, signal); }
  int wait() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return status;
  }
  std::string text(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
  pid_t child_;
};

}  // namespace

TEST_CASE("a termination lets the case finish and writes what there is") {
  const Running kvbench("terminated");
  kvbench.wait_for_progress();
  kvbench.send(SIGTERM);
  kvbench.send(SIGTERM);  // timeout sends its signal twice
  const int status = kvbench.wait();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  const auto document = nlohmann::json::parse(kvbench.text("out.json"));
  const std::string note = document["notes"].back();
  CHECK(note.ends_with(" cases were not reached: interrupted."));
  CHECK(kvbench.text("log").find("nothing failed, ") != std::string::npos);
}

TEST_CASE("a second interrupt ends the process at once") {
  const pid_t child = fork();
  if (child == 0) {
    kvsim::kernels::bench::catch_interrupts();
    std::raise(SIGINT);
    std::raise(SIGTERM);
    if (!kvsim::kernels::bench::interrupted()) _exit(1);
    std::this_thread::sleep_for(400ms);
    std::raise(SIGTERM);
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}
