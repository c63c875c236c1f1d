#pragma once
#include <memory>
#include <string_view>

#include "cli/context.h"
#include "cli/exit.h"
#include "cli/flags.h"
#include "cli/usage.h"

namespace kvsim::cli {

// One command. The object lives for one call: describe() binds flags to its members, run() uses
// them. run() prints results through the context, throws InputError, IoError or UsageError, and
// answers ok or no.
class Command {
 public:
  virtual ~Command() = default;
  virtual void describe(Flags& flags) = 0;
  virtual Exit run(Context& context) = 0;
};

// What -o names: the file that the result goes to, or files that the command writes beside a report
// on stdout.
enum class OutputFiles { result, own };

// A row of the command table. `name` may be two words ("model show").
struct CommandEntry {
  std::string_view name;
  std::string_view summary;  // one line, no full stop
  std::string_view group;    // heading in the command map
  std::unique_ptr<Command> (*make)();
  OutputFiles output = OutputFiles::result;
};

}  // namespace kvsim::cli
