#include "config/version.h"

#include <fmt/format.h>

#include "cli/commands/makers.h"
#include "cli/schemas.h"

namespace kvsim::cli {
namespace {

class Version final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim version --json",
                  "the numbers that decide whether two results may be compared");
  }

  Exit run(Context& context) override {
    std::string schemas;
    for (const std::string_view schema : schema_ids()) {
      const auto slash = schema.find('/');
      if (context.json())
        schemas += fmt::format("{}\n    \"{}\": {}", schemas.empty() ? "" : ",",
                               schema.substr(0, slash), schema.substr(slash + 1));
      else
        schemas += fmt::format(" {}", schema);
    }
    if (context.json())
      context.print(fmt::format(
          "{{\n  \"version\": \"{}\",\n  \"behaviour\": {},\n  \"schemas\": {{{}\n  }}\n}}\n",
          kvsim::version, kvsim::behaviour, schemas));
    else
      context.print(fmt::format("kvsim {} (behaviour {})\nreads and writes{}\n", kvsim::version,
                                kvsim::behaviour, schemas));
    return Exit::ok;
  }
};

}  // namespace

std::unique_ptr<Command> make_version() { return std::make_unique<Version>(); }

}  // namespace kvsim::cli
