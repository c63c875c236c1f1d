#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit.h"
#include "cli/globals.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "diag/diagnostic.h"

namespace kvsim::cli {

// What a command works with.
class Context {
 public:
  Context(Globals globals, Terminal terminal, Output& output)
      : globals_(std::move(globals)), terminal_(terminal), output_(output) {}

  const Globals& globals() const { return globals_; }
  bool json() const { return globals_.json; }
  const Terminal& terminal() const { return terminal_; }

  // The result, on stdout or into the file of -o. Kept until the command returns.
  void print(std::string_view text) { output_.write(text); }
  Output& output() { return output_; }
  // For text results; plain when stdout is not a colour terminal.
  std::string paint(std::string_view text, Ink ink) const {
    return cli::paint(text, ink, terminal_.color_out ? Colored::yes : Colored::no);
  }

  // On stderr, at once: JSON lines under --json, nothing but errors under --quiet.
  void report(const std::vector<Diagnostic>& diagnostics) const;
  void warn(std::string code, std::string message, std::string hint = {}) const;
  void note(std::string message) const;    // shown without --quiet
  void detail(std::string message) const;  // shown with -v
  // For commands that were stopped and have printed what they have: says so, exit 130.
  Exit interrupted() const;

  // Folders to add to the catalog (--models-dir, KVSIM_MODELS):
  // spec::Catalog(context.catalog_folders()).
  const std::vector<std::string>& catalog_folders() const { return globals_.models_dirs; }

 private:
  Globals globals_;
  Terminal terminal_;
  Output& output_;
};

}  // namespace kvsim::cli
