#include "cli/commands/makers.h"
#include "spec/catalog.h"
#include "spec/model_text.h"

namespace kvsim::cli {
namespace {

class ModelImport final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim model import ./config.json --id my-model -o my-model.json",
                  "write a kvsim.model/1 file; edit it, name it in a scenario");
    flags
        .positional("FILE", file_,
                    "a Hugging Face config.json; a hf_quant_config.json beside it is read too")
        .require()
        .completes(Complete::file);
    flags
        .option("--id", id_,
                "id of the model: lower-case letters, digits, dots and hyphens (default: from the "
                "file's name)")
        .value("ID");
  }

  Exit run(Context& context) override {
    spec::ModelSpec model = spec::load_model(file_);
    if (!id_.empty()) {
      model.id = id_;
      Diagnostics diagnostics;
      spec::finalize(model, "--id", diagnostics);
      diagnostics.throw_if_errors();
    }
    context.print(spec::model_file_text(model));
    return Exit::ok;
  }

 private:
  std::string file_, id_;
};

}  // namespace

std::unique_ptr<Command> make_model_import() { return std::make_unique<ModelImport>(); }

}  // namespace kvsim::cli
