#include <doctest/doctest.h>

#include <cctype>
#include <string>

#include "spec/catalog.h"
#include "spec/weights.h"

using namespace kvsim;

namespace {

std::string spelled(const char* name) {
  static const spec::Catalog catalog;
  const auto found = catalog.find_spelling(name);
  return found ? found->id + ":" + found->format : "";
}

}  // namespace

TEST_CASE("models are found by the spellings of hubs and folders") {
  CHECK(spelled("meta-llama/Llama-3.1-70B-Instruct") == "llama-3.1-70b:");
  CHECK(spelled("unsloth/Meta-Llama-3.1-8B-Instruct") == "llama-3.1-8b:");
  CHECK(spelled("/models/Qwen3-8B/") == "qwen3-8b:");
  CHECK(spelled("Qwen/Qwen3-30B-A3B-Instruct-2507") == "qwen3-30b-a3b:");
  CHECK(spelled("Qwen/Qwen9-8B").empty());
  CHECK(spelled("").empty());
  CHECK(spelled("///").empty());
}

TEST_CASE("an ending that names a weight format is answered with the model") {
  CHECK(spelled("Qwen/Qwen3-8B-AWQ") == "qwen3-8b:awq");
  CHECK(spelled("hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4") == "llama-3.1-8b:awq");
  CHECK(spelled("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4") == "qwen2.5-7b:gptq");
  CHECK(spelled("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf") == "llama-3.1-8b:gguf_q4_k_m");
  CHECK(spelled("bartowski/Qwen2.5-7B-Instruct-GGUF:Q8_0") == "qwen2.5-7b:gguf_q8_0");
}

TEST_CASE("every GGUF type with a size is read from the name of a file") {
  for (const std::string& name : spec::quantization_names()) {
    if (!name.starts_with("gguf_")) continue;
    std::string type = name.substr(5);
    CHECK(spelled(("models/Qwen3-8B-" + type + ".gguf").c_str()) == "qwen3-8b:" + name);
    for (char& c : type) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    CHECK(spelled(("Qwen3-8B." + type + ".gguf").c_str()) == "qwen3-8b:" + name);
    CHECK(spelled(("Qwen3-8B-" + type + "-00001-of-00003.gguf").c_str()) == "qwen3-8b:" + name);
  }
  CHECK(spelled("Qwen/Qwen3-8B-GGUF") == "qwen3-8b:gguf");
  CHECK(spelled("Qwen3-8B-F16.gguf") == "qwen3-8b:");
  CHECK(spelled("Qwen3-8B-IQ1_S.gguf").empty());
}

TEST_CASE("a quantised entry of the catalog is preferred to its base") {
  CHECK(spelled("Qwen/Qwen3-32B-FP8") == "qwen3-32b-fp8:");
}
