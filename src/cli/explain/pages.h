#pragma once
#include <string>
#include <vector>

namespace kvsim::cli {

// A file of docs/ that is generated from the tables of this program.
struct Page {
  std::string path;  // "reference/commands.md", below docs/
  std::string text;
};

// All of them. A test compares them with the committed files; the build target kvsim_update_docs
// writes them.
std::vector<Page> pages();

}  // namespace kvsim::cli
