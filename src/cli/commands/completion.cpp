#include "cli/completion.h"

#include "cli/commands/makers.h"
#include "spec/catalog.h"

namespace kvsim::cli {
namespace {

class CompletionCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("source <(kvsim completion bash)",
                  "completes commands, flags, models and GPUs in this shell");
    flags.positional("SHELL", shell_, "which shell").words({"bash", "zsh", "fish"}).require();
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    const CompletionIds ids{catalog.model_ids(), catalog.gpu_ids()};
    if (shell_ == "bash")
      context.print(bash_completion(ids));
    else if (shell_ == "zsh")
      context.print(zsh_completion(ids));
    else
      context.print(fish_completion(ids));
    return Exit::ok;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion() { return std::make_unique<CompletionCommand>(); }

}  // namespace kvsim::cli
