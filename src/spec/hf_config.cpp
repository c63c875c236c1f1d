#include "spec/hf_config.h"

#include <fmt/format.h>

#include "diag/suggest.h"
#include "spec/hf/family.h"

namespace kvsim::spec {
namespace {

using hf::Family;

// The language part's model_type decides; where that is missing, the outer one with "_text", then
// the outer one.
const Family* family_of(const hf::View& view, config::Value& where) {
  const auto word = [](config::Value scope) {
    const config::Value v = scope.find("model_type");
    return v.exists() && v.is_string() ? v : config::Value{};
  };
  const config::Value inner = word(view.text()), outer = word(view.root());
  where = inner.exists() ? inner : outer;
  if (inner.exists())
    if (const Family* family = hf::find_family(inner.string())) return family;
  if (!outer.exists() || !view.nested()) return nullptr;
  if (const Family* family = hf::find_family(outer.string() + "_text")) return family;
  return hf::find_family(outer.string());
}

// The shortest run of names that gives the same layers when it is repeated.
void shorten(std::vector<std::string>& pattern) {
  for (std::size_t period = 1; period < pattern.size(); ++period) {
    std::size_t i = period;
    while (i < pattern.size() && pattern[i] == pattern[i - period]) ++i;
    if (i == pattern.size()) return pattern.resize(period);
  }
}

[[noreturn]] void unknown_family(const hf::View& view, const config::Value& where) {
  if (!where.exists())
    throw InputError(
        view.root().diagnostic("missing-field",
                               "required field \"model_type\" is missing or not a string: it says "
                               "which family the configuration is of"));
  std::vector<std::string> known;
  for (const Family& family : hf::families()) known.emplace_back(family.model_type);
  const auto near = nearest(where.string(), known);
  std::string hint =
      "a kvsim model file needs hidden_size, num_layers, vocab_size, max_position_embeddings, "
      "intermediate_size and layer_groups";
  if (near)
    hint = fmt::format(
        "the nearest known family is \"{}\", which needs hidden_size, num_hidden_layers, "
        "vocab_size, max_position_embeddings, {}",
        *near, hf::find_family(*near)->needs);
  throw InputError(where.diagnostic(
      "hf-unknown-family",
      fmt::format("unknown model_type {}", config::json_string(where.string())), hint));
}

}  // namespace

bool is_hf_config(const config::Document& document) {
  const config::Value root = document.root();
  return root.is_object() && !root.find("schema").exists() &&
         (root.find("model_type").exists() || root.find("architectures").exists());
}

ModelSpec import_hf_config(const config::Document& document, const config::Document* quant,
                           std::string id) {
  const config::Value root = document.root();
  if (!root.is_object())
    throw InputError(root.diagnostic("wrong-type",
                                     fmt::format("expected an object, found {}", root.describe())));
  Diagnostics diagnostics;
  hf::View view(root, diagnostics);
  config::Value where;
  const Family* family = family_of(view, where);
  if (!family) unknown_family(view, where);

  ModelSpec model;
  model.id = std::move(id);
  hf::import_common(view, *family, model);
  // Sizes of lists are compared with the number of layers: nothing more can be said without it.
  diagnostics.throw_if_errors();
  family->import(view, model);
  hf::import_vision(view, model);
  hf::import_quantization(view, quant, model, diagnostics);
  diagnostics.throw_if_errors();
  model.sources = {
      fmt::format("dimensions: Hugging Face configuration, model_type {}", where.string())};
  if (quant) model.sources.emplace_back("quantization: hf_quant_config.json");
  for (const std::string& text : view.assumptions())
    model.notes += (model.notes.empty() ? "" : " ") + text;
  shorten(model.layer_pattern);
  finalize(model, document.name(), diagnostics);
  diagnostics.throw_if_errors();
  return model;
}

}  // namespace kvsim::spec
