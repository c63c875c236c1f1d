#include "support/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace kvsim::testing {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, Close>;  // has no name, ends with its handle

TemporaryFile temporary_file() {
  TemporaryFile file(std::tmpfile());
  if (!file) throw std::runtime_error("no temporary file");
  return file;
}

std::string contents(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[65536];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file))
    text.append(buffer, count);
  return text;
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments, const std::string& folder,
                    const std::string& input) {
  const TemporaryFile in = temporary_file(), out = temporary_file(), err = temporary_file();
  std::fwrite(input.data(), 1, input.size(), in.get());
  std::rewind(in.get());
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(126);
    dup2(fileno(in.get()), 0);
    dup2(fileno(out.get()), 1);
    dup2(fileno(err.get()), 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("cannot wait for " + arguments[0]);

  Outcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (outcome.status == 126 || outcome.status == 127)
    throw std::runtime_error("cannot start " + arguments[0] + " in " + folder);
  outcome.out = contents(out.get());
  outcome.err = contents(err.get());
  return outcome;
}

std::string kvsim_path() { return KVSIM_BINARY_DIR "/kvsim"; }

Outcome run_kvsim(std::vector<std::string> arguments, const std::string& folder,
                  const std::string& input) {
  arguments.insert(arguments.begin(), kvsim_path());
  return run_program(arguments, folder, input);
}

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // a word has begun, perhaps an empty quoted one
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i], inside = true;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c, inside = true;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      if (inside) words.push_back(word);
      word.clear(), inside = false;
    } else {
      word += c, inside = true;
    }
  }
  if (quote != 0) throw std::runtime_error("open quote in: " + line);
  if (inside) words.push_back(word);
  return words;
}

}  // namespace kvsim::testing
