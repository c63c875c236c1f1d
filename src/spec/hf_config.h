#pragma once
#include <string>

#include "config/document.h"
#include "spec/model_spec.h"

namespace kvsim::spec {

// Reads a Hugging Face config.json (nested text_config included) into a ModelSpec. `quant` is the
// text of a ModelOpt hf_quant_config.json beside it, or null. Nothing is guessed: an unknown
// model_type, or a field the family needs and the file lacks, is an InputError that names the
// fields. `id` becomes the model's id.
ModelSpec import_hf_config(const config::Document& document, const config::Document* quant,
                           std::string id);

// True for a document that looks like a Hugging Face configuration (model_type or architectures).
bool is_hf_config(const config::Document& document);

}  // namespace kvsim::spec
