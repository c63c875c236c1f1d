#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"

// The catalog: every file of models/, embedded in the binary, plus the folders the user adds.
namespace kvsim::spec {

class Catalog {
 public:
  // Embedded entries, then the *.json of each extra folder (its llm/ gpu/ link/ subfolders too;
  // later ones win). `folders` come from --models-dir and KVSIM_MODELS.
  explicit Catalog(std::vector<std::string> folders = {});

  // Ids in alphabetical order.
  std::vector<std::string> model_ids() const;
  std::vector<std::string> gpu_ids() const;
  std::vector<std::string> link_ids() const;

  // By id or alias, case-insensitive for aliases. Unknown: InputError with the nearest id; `where`
  // (may be empty) says which field of which file asked.
  ModelSpec model(std::string_view id, const config::RawValue& where = {}) const;
  GpuSpec gpu(std::string_view id, const config::RawValue& where = {}) const;
  LinkSpec link(std::string_view id, const config::RawValue& where = {}) const;
  // The file's text as embedded.
  std::string_view model_text(std::string_view id) const;
  std::string_view gpu_text(std::string_view id) const;

  // A reference as files write it (design: "References"): id or alias; a path (starts with ./ ../ /
  // or ends in .json) relative to `folder`, holding a kvsim file or, for models, a Hugging Face
  // config.json; an inline object; {"base": id, "set": {...}} as a patched copy.
  ModelSpec resolve_model(const config::RawValue& reference, const std::string& folder) const;
  GpuSpec resolve_gpu(const config::RawValue& reference, const std::string& folder) const;
  LinkSpec resolve_link(const config::RawValue& reference, const std::string& folder) const;
  // The same for a command-line argument.
  ModelSpec resolve_model(std::string_view argument) const;
  GpuSpec resolve_gpu(std::string_view argument) const;

 private:
  struct Entry {
    std::string id;
    std::vector<std::string> aliases;
    std::string name;  // path shown in errors
    std::string text;
  };
  std::vector<Entry> models_, gpus_, links_;
};

}  // namespace kvsim::spec
