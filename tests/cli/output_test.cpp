#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/harness.h"
#include "config/output_file.h"
#include "diag/diagnostic.h"

using kvsim::config::OutputFile;
using kvsim::test::Folder;
using kvsim::test::Kvsim;
namespace fs = std::filesystem;

TEST_CASE("an output file replaces stdout and holds the same bytes") {
  const std::string text = Kvsim({"version"}).out();
  Kvsim({"version", "-o", "v.txt"}).exits(0).out_is("").err_is("").writes("v.txt", text);
  Kvsim({"version", "--output=v.txt"}).exits(0).out_is("").writes("v.txt", text);
  Kvsim({"version", "-o", "-"}).exits(0).out_is(text).leaves_nothing();
}

TEST_CASE("an output folder that does not exist is exit 4 and named") {
  Kvsim({"version", "-o", "nowhere/v.json"})
      .exits(4)
      .out_is("")
      .leaves_nothing()
      .err_is("error: nowhere/v.json: cannot be written: there is no folder nowhere\n");
}

TEST_CASE("an output that is a folder is exit 4 and named") {
  Kvsim({"version", "-o", "sub"})
      .file("sub/x", "")
      .exits(4)
      .out_is("")
      .leaves_nothing()
      .err_has("sub: cannot be written");
}

TEST_CASE("a usage error leaves an existing output file as it was") {
  Kvsim({"version", "stray", "-o", "old.txt"})
      .file("old.txt", "old")
      .exits(2)
      .writes("old.txt", "old")
      .leaves_nothing();
}

TEST_CASE("a full device is exit 4") {
  if (!fs::is_character_file("/dev/full")) {
    MESSAGE("/dev/full is not there");
    return;
  }
  Kvsim({"version"}).out_to("/dev/full").exits(4).err_has("No space left");
  Kvsim({"version", "-o", "/dev/full"}).exits(4).err_has("/dev/full").leaves_nothing();
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a reader that has gone is no error and no word") {
  Kvsim({"version"}).closed_pipe().exits(0).err_is("");
}

TEST_CASE("writing to a device does not replace it") {
  Kvsim({"version", "-o", "/dev/null"}).exits(0).out_is("").err_is("");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("an output file that is not committed leaves nothing and keeps what was there") {
  const Folder folder;
  folder.write("a", "old");
  const std::string path = (folder.path() / "a").string();
  {
    OutputFile file(path);
    file.write("new");
  }
  CHECK(folder.read("a") == "old");
  CHECK(folder.files() == std::vector<std::string>{"a"});
  OutputFile file(path);
  file.write("new");
  CHECK(folder.read("a") == "old");
  file.commit();
  CHECK(folder.read("a") == "new");
  CHECK(folder.files() == std::vector<std::string>{"a"});
}

TEST_CASE("an output through a symbolic link writes the target and keeps the link") {
  const Folder folder;
  folder.write("target", "old");
  fs::create_symlink(folder.path() / "target", folder.path() / "link");
  OutputFile file((folder.path() / "link").string());
  file.write("new");
  file.commit();
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(folder.read("target") == "new");
}

TEST_CASE("colour follows the flag then the environment then the terminal") {
  const std::string red = "\033[1;31m";
  Kvsim({"versoin"}).exits(2).err_lacks("\033");
  Kvsim({"versoin"}).terminal().exits(2).err_has(red);
  Kvsim({"versoin"}).terminal().env("NO_COLOR", "1").exits(2).err_lacks("\033");
  Kvsim({"versoin"}).terminal().env("NO_COLOR", "").exits(2).err_has(red);
  Kvsim({"versoin"}).terminal().env("TERM", "dumb").exits(2).err_lacks("\033");
  Kvsim({"versoin"}).env("CLICOLOR_FORCE", "1").exits(2).err_has(red);
  Kvsim({"versoin"}).env("CLICOLOR_FORCE", "0").exits(2).err_lacks("\033");
  Kvsim({"versoin", "--color", "always"}).env("NO_COLOR", "1").exits(2).err_has(red);
  Kvsim({"versoin", "--color", "never"})
      .terminal()
      .env("CLICOLOR_FORCE", "1")
      .exits(2)
      .err_lacks("\033");
  Kvsim({"versoin", "--json", "--color", "always"})
      .terminal()
      .exits(2)
      .err_lacks("\033")
      .err_is_json_lines();
}
