#pragma once
#include <optional>
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
  // Embedded entries, then the *.json of each extra folder (its llm/ gpu/ link/ cost/ subfolders
  // too; later ones win). `folders` come from --models-dir and KVSIM_MODELS. Throws IoError for a
  // folder that cannot be read, InputError for a file that is no kvsim model, gpu, link or cost
  // file.
  explicit Catalog(const std::vector<std::string>& folders = {});

  // Ids in alphabetical order.
  std::vector<std::string> model_ids() const;
  std::vector<std::string> gpu_ids() const;
  std::vector<std::string> link_ids() const;

  // The catalog's id for a name as hubs and folders spell it: "org/Meta-Llama-3.1-8B-Instruct-AWQ",
  // "models/qwen3-8b-Q4_K_M.gguf". An id or alias first; then without the folder; then without
  // endings that name a tuning (Instruct, Chat, it, ...) or a weight format, which is answered in
  // `format` as spec::quantization_names() has it ("?" = one that has no such name). Nothing when
  // the catalog has no such model.
  struct Spelling {
    std::string id, format;
  };
  std::optional<Spelling> find_spelling(std::string_view name) const;

  // By id or alias, without regard to case. Unknown: InputError with the nearest id; `where`
  // (may be empty) says which field of which file asked.
  ModelSpec model(std::string_view id, const config::RawValue& where = {}) const;
  GpuSpec gpu(std::string_view id, const config::RawValue& where = {}) const;
  LinkSpec link(std::string_view id, const config::RawValue& where = {}) const;
  // The link between GPUs of this kind: its own, else PCIe of its generation; nothing when neither
  // is known.
  std::optional<LinkSpec> link_of(const GpuSpec& gpu) const;
  // The file's text, by id or alias.
  std::string_view model_text(std::string_view id) const;
  std::string_view gpu_text(std::string_view id) const;

  // Fitted cost files (kvsim.cost/1) as they are; what they hold is read by cost/, and only where a
  // GPU is asked for. The views live as long as the catalog.
  struct CostText {
    std::string_view id, gpu;  // "h100-sxm.vllm-0.24.0", the catalog id of its GPU
    std::string_view name;     // path shown in errors
    std::string_view text;
    bool is_embedded = false;
  };
  std::vector<CostText> cost_texts() const;  // in alphabetical order of ids

  // A reference as files write it (design: "References"): id or alias; a path (starts with ./ ../ /
  // or ends in .json) relative to `folder`, holding a kvsim file or, for models, a Hugging Face
  // config.json; an inline object; {"base": id, "set": {...}} as a patched copy (JSON merge patch).
  ModelSpec resolve_model(const config::RawValue& reference, const std::string& folder) const;
  GpuSpec resolve_gpu(const config::RawValue& reference, const std::string& folder) const;
  LinkSpec resolve_link(const config::RawValue& reference, const std::string& folder) const;
  // The same for a command-line argument: an id, an alias or a path.
  ModelSpec resolve_model(std::string_view argument) const;
  GpuSpec resolve_gpu(std::string_view argument) const;

 private:
  struct Entry {
    std::string id;
    std::vector<std::string> aliases;
    std::string name;  // path shown in errors
    std::string text;
  };
  using Entries = std::vector<Entry>;
  void add(Entries& list, Entry entry);
  void add_folder(const std::string& folder);
  const Entries& entries(std::string_view schema) const;
  const Entry& find(std::string_view schema, std::string_view id,
                    const config::RawValue& where) const;
  template <class T>
  T resolve(const config::RawValue& reference, const std::string& folder) const;

  Entries models_, gpus_, links_;
  // Those of folders; the embedded ones stay where they are.
  struct CostEntry {
    std::string id, gpu, name, text;
  };
  std::vector<CostEntry> costs_;
};

// Reads a model from a file: a kvsim model, or a Hugging Face config.json (with the
// hf_quant_config.json beside it, where there is one). Throws IoError, InputError.
ModelSpec load_model(const std::string& path);

}  // namespace kvsim::spec
