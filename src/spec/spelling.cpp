#include <algorithm>
#include <array>
#include <cctype>

#include "spec/catalog.h"

// Names of models outside the catalog's own list.
namespace kvsim::spec {
namespace {

struct Ending {
  std::string_view text;
  std::string_view format;  // "" = says nothing about the weights
};

// Longest first where one ends with another.
constexpr std::array endings{
    Ending{"-gptq-int4", "gptq"},
    Ending{"-gptq-int8", "int8"},
    Ending{"-awq-int4", "awq"},
    Ending{"-awq-4bit", "awq"},
    Ending{"-quantized.w4a16", "gptq"},
    Ending{"-quantized.w8a8", "int8"},
    Ending{"-int4-autoround", "gptq"},
    Ending{"-autoround", "gptq"},
    Ending{"-fp8-dynamic", "fp8"},
    Ending{"-fp8-block", "fp8_block"},
    Ending{"-bnb-4bit", "bitsandbytes"},
    Ending{"-4bit", "gptq"},
    Ending{"-awq", "awq"},
    Ending{"-gptq", "gptq"},
    Ending{"-w4a16", "gptq"},
    Ending{"-int4", "gptq"},
    Ending{"-w8a8", "int8"},
    Ending{"-int8", "int8"},
    Ending{"-fp8", "fp8"},
    Ending{"-nvfp4", "nvfp4"},
    Ending{"-fp4", "nvfp4"},
    Ending{"-mxfp4", "mxfp4"},
    Ending{"-q4-k-m", "gguf"},
    Ending{"-q4-k-s", "gguf"},
    Ending{"-q4-0", "?"},
    Ending{"-q5-k-m", "?"},
    Ending{"-q6-k", "?"},
    Ending{"-q8-0", "?"},
    Ending{"-q5-0", "?"},
    Ending{"-q2-k", "?"},
    Ending{"-q3-k-m", "?"},
    Ending{"-gguf", "gguf"},
    Ending{"-bf16", ""},
    Ending{"-fp16", ""},
    Ending{"-f16", ""},
    Ending{"-instruct", ""},
    Ending{"-chat", ""},
    Ending{"-it", ""},
    Ending{"-hf", ""},
    Ending{"-base", ""},
    Ending{"-thinking", ""},
    Ending{"-2507", ""},
    Ending{"-v1", ""},
    Ending{"-preview", ""},
};

// Lower case, without folder and ".gguf", underscores and colons as hyphens.
std::string key(std::string_view name) {
  if (const auto slash = name.find_last_not_of('/'); slash != std::string_view::npos)
    name = name.substr(0, slash + 1);
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  std::string out(name);
  for (char& c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == '_' || c == ':') c = '-';
  }
  if (out.ends_with(".gguf")) out.resize(out.size() - 5);
  if (out.starts_with("meta-llama-")) out.erase(0, 5);
  return out;
}

std::string without_tuning(std::string name) {
  for (bool again = true; again;) {
    again = false;
    for (const Ending& e : endings)
      if (e.format.empty() && name.size() > e.text.size() && name.ends_with(e.text)) {
        name.resize(name.size() - e.text.size());
        again = true;
      }
  }
  return name;
}

}  // namespace

std::optional<Catalog::Spelling> Catalog::find_spelling(std::string_view name) const {
  const auto search = [&](const std::string& wanted, auto reduce) -> std::optional<std::string> {
    for (auto entry = models_.rbegin(); entry != models_.rend(); ++entry) {
      if (reduce(key(entry->id)) == wanted) return entry->id;
      for (const std::string& alias : entry->aliases)
        if (reduce(key(alias)) == wanted) return entry->id;
    }
    return std::nullopt;
  };
  std::string word = key(name);
  std::string format;
  while (true) {
    if (const auto id = search(word, [](std::string k) { return k; })) return Spelling{*id, format};
    if (const auto id = search(without_tuning(word), without_tuning)) return Spelling{*id, format};
    const auto ending = std::find_if(endings.begin(), endings.end(), [&](const Ending& e) {
      return word.size() > e.text.size() && word.ends_with(e.text);
    });
    if (ending == endings.end()) return std::nullopt;
    word.resize(word.size() - ending->text.size());
    if (format.empty()) format = ending->format;
  }
}

}  // namespace kvsim::spec
