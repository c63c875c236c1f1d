#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Runs a program in a folder of its own and states what it must do, so that a test reads like the
// claim it proves:
//
//   Kvsim({"check", "bad.json"}).file("bad.json", "{").exits(3).err_has("bad.json:1:").out_is("");
//
// The first expectation starts the program; each is a doctest CHECK with the whole outcome shown.
namespace kvsim::test {

// A folder that is removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, std::string_view content) const;
  std::string read(const std::string& name) const;  // "" when it is not there
  std::vector<std::string> files() const;           // relative, sorted
 private:
  std::filesystem::path path_;
};

class Program {
 public:
  Program(std::string program, std::vector<std::string> arguments);

  // Before the start.
  Program& file(const std::string& name, std::string_view content);
  Program& input(std::string text);  // stdin; empty otherwise
  Program& env(const std::string& name, std::string value);
  Program& out_to(std::string path);                    // stdout into that file, say /dev/full
  Program& closed_pipe();                               // nobody reads stdout
  Program& terminal();                                  // stderr is a terminal
  Program& signal_after(int signal, int milliseconds);  // send it, unless the program has ended

  // Expectations.
  Program& exits(int status);
  Program& out_is(std::string_view text);
  Program& err_is(std::string_view text);
  Program& out_has(std::string_view part);
  Program& err_has(std::string_view part);
  Program& out_lacks(std::string_view part);
  Program& err_lacks(std::string_view part);
  Program& out_is_json();        // exactly one document
  Program& err_is_json_lines();  // every line is an object
  Program& writes(const std::string& name, std::string_view content);
  Program& leaves_nothing();  // no file beside those given

  const std::string& out();
  const std::string& err();
  int status();  // exit status, or 128 + signal
  const Folder& folder() const { return folder_; }

 private:
  void run();
  std::string outcome() const;
  std::string program_;
  std::vector<std::string> arguments_;
  std::map<std::string, std::string> environment_;
  std::string input_, out_path_;
  bool terminal_ = false, closed_pipe_ = false, started_ = false;
  int signal_ = 0, signal_after_ms_ = 0;
  Folder folder_;
  std::vector<std::string> given_;
  std::string out_, err_;
  int status_ = -1;
};

// The kvsim under test.
class Kvsim : public Program {
 public:
  explicit Kvsim(std::vector<std::string> arguments);
};

// Whether a program of that name is on PATH.
bool is_installed(const std::string& program);

}  // namespace kvsim::test
