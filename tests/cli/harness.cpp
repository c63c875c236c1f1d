#include "cli/harness.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

namespace kvsim::test {
namespace fs = std::filesystem;
namespace {

constexpr auto patience = std::chrono::seconds(60);

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What a terminal received until its other side was closed.
std::string drain(int master) {
  std::string out;
  char buffer[4096];
  for (ssize_t got; (got = ::read(master, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(got));
  std::erase(out, '\r');
  return out;
}

}  // namespace

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "kvsim-test-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

Folder::~Folder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void Folder::write(const std::string& name, std::string_view content) const {
  const fs::path at = path_ / name;
  fs::create_directories(at.parent_path());
  std::ofstream(at, std::ios::binary) << content;
}

std::string Folder::read(const std::string& name) const { return slurp(path_ / name); }

std::vector<std::string> Folder::files() const {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(path_))
    if (!entry.is_directory()) out.push_back(fs::relative(entry.path(), path_).string());
  std::ranges::sort(out);
  return out;
}

Program::Program(std::string program, std::vector<std::string> arguments)
    : program_(std::move(program)), arguments_(std::move(arguments)) {
  for (const char* name :
       {"PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) environment_[name] = value;
  environment_["LC_ALL"] = "C.UTF-8";
  environment_["TERM"] = "xterm";
}

Program& Program::file(const std::string& name, std::string_view content) {
  folder_.write(name, content);
  given_.push_back(name);
  return *this;
}
Program& Program::input(std::string text) { return input_ = std::move(text), *this; }
Program& Program::env(const std::string& name, std::string value) {
  return environment_[name] = std::move(value), *this;
}
Program& Program::out_to(std::string path) { return out_path_ = std::move(path), *this; }
Program& Program::closed_pipe() { return closed_pipe_ = true, *this; }
Program& Program::terminal() { return terminal_ = true, *this; }
Program& Program::signal_after(int signal, int milliseconds) {
  return signal_ = signal, signal_after_ms_ = milliseconds, *this;
}

void Program::run() {
  if (std::exchange(started_, true)) return;
  const Folder streams;
  streams.write("in", input_);
  const std::string out_path = out_path_.empty() ? (streams.path() / "out").string() : out_path_;
  int master = -1, slave = -1, pipe_ends[2] = {-1, -1};
  if (terminal_) REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
  if (closed_pipe_) REQUIRE(::pipe(pipe_ends) == 0);

  std::vector<std::string> variables;
  for (const auto& [name, value] : environment_) variables.push_back(name + "=" + value);
  std::vector<char*> argv{program_.data()}, envp;
  for (std::string& a : arguments_) argv.push_back(a.data());
  for (std::string& v : variables) envp.push_back(v.data());
  argv.push_back(nullptr), envp.push_back(nullptr);

  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const int in = ::open((streams.path() / "in").c_str(), O_RDONLY);
    const int out =
        closed_pipe_ ? pipe_ends[1] : ::open(out_path.c_str(), O_WRONLY | O_CREAT, 0644);
    const int err =
        terminal_ ? slave : ::open((streams.path() / "err").c_str(), O_WRONLY | O_CREAT, 0644);
    if (closed_pipe_) ::close(pipe_ends[0]);
    if (::chdir(folder_.path().c_str()) != 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 ||
        ::dup2(err, 2) < 0)
      ::_exit(125);
    if (terminal_) ::close(master);
    ::execvpe(program_.c_str(), argv.data(), envp.data());
    ::_exit(126);
  }
  if (closed_pipe_) ::close(pipe_ends[0]), ::close(pipe_ends[1]);
  if (terminal_) ::close(slave);
  std::thread reader;
  if (terminal_) reader = std::thread([&] { err_ = drain(master); });

  const auto start = std::chrono::steady_clock::now();
  int raw = 0;
  bool signalled = false;
  while (::waitpid(child, &raw, WNOHANG) == 0) {
    const auto spent = std::chrono::steady_clock::now() - start;
    if (signal_ != 0 && !signalled && spent >= std::chrono::milliseconds(signal_after_ms_))
      ::kill(child, signal_), signalled = true;
    if (spent > patience) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  if (terminal_)
    reader.join(), ::close(master);
  else
    err_ = slurp(streams.path() / "err");
  if (out_path_.empty() && !closed_pipe_) out_ = slurp(out_path);
}

std::string Program::outcome() const {
  return fmt::format("{} {}\nexit status {}\n--- stdout\n{}--- stderr\n{}", program_,
                     fmt::join(arguments_, " "), status_, out_, err_);
}

const std::string& Program::out() { return run(), out_; }
const std::string& Program::err() { return run(), err_; }
int Program::status() { return run(), status_; }

Program& Program::exits(int wanted) {
  run();
  INFO(outcome());
  CHECK(status_ == wanted);
  return *this;
}
Program& Program::out_is(std::string_view text) {
  run();
  INFO(outcome());
  CHECK(out_ == text);
  return *this;
}
Program& Program::err_is(std::string_view text) {
  run();
  INFO(outcome());
  CHECK(err_ == text);
  return *this;
}
Program& Program::out_has(std::string_view part) {
  run();
  INFO(outcome());
  INFO("wanted on stdout: ", part);
  CHECK(out_.find(part) != std::string::npos);
  return *this;
}
Program& Program::err_has(std::string_view part) {
  run();
  INFO(outcome());
  INFO("wanted on stderr: ", part);
  CHECK(err_.find(part) != std::string::npos);
  return *this;
}
Program& Program::out_lacks(std::string_view part) {
  run();
  INFO(outcome());
  INFO("not wanted on stdout: ", part);
  CHECK(out_.find(part) == std::string::npos);
  return *this;
}
Program& Program::err_lacks(std::string_view part) {
  run();
  INFO(outcome());
  INFO("not wanted on stderr: ", part);
  CHECK(err_.find(part) == std::string::npos);
  return *this;
}
Program& Program::out_is_json() {
  run();
  INFO(outcome());
  CHECK(nlohmann::json::accept(out_));
  return *this;
}
Program& Program::err_is_json_lines() {
  run();
  INFO(outcome());
  CHECK(!err_.empty());
  std::string_view rest = err_;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    REQUIRE(end != std::string_view::npos);
    const auto line = nlohmann::json::parse(rest.substr(0, end), nullptr, false);
    REQUIRE(line.is_object());
    for (const char* key :
         {"severity", "code", "message", "file", "line", "column", "pointer", "hint"})
      CHECK(line.contains(key));
    rest.remove_prefix(end + 1);
  }
  return *this;
}
Program& Program::writes(const std::string& name, std::string_view content) {
  run();
  INFO(outcome());
  CHECK(folder_.read(name) == content);
  return *this;
}
Program& Program::leaves_nothing() {
  run();
  INFO(outcome());
  std::vector<std::string> expected = given_;
  std::ranges::sort(expected);
  CHECK(fmt::format("{}", fmt::join(folder_.files(), " ")) ==
        fmt::format("{}", fmt::join(expected, " ")));
  return *this;
}

Kvsim::Kvsim(std::vector<std::string> arguments) : Program(KVSIM_PROGRAM, std::move(arguments)) {}

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    if (::access((std::string(rest.substr(0, colon)) + "/" + program).c_str(), X_OK) == 0)
      return true;
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return false;
}

}  // namespace kvsim::test
