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
    Ending{"-q8-0", "gguf_q8_0"},
    Ending{"-q6-k", "gguf_q6_k"},
    Ending{"-q5-k-m", "gguf_q5_k_m"},
    Ending{"-q5-0", "gguf_q5_0"},
    Ending{"-q4-k-m", "gguf_q4_k_m"},
    Ending{"-q4-k-s", "gguf_q4_k_s"},
    Ending{"-q4-0", "gguf_q4_0"},
    Ending{"-q4-1", "gguf_q4_1"},
    Ending{"-iq4-xs", "gguf_iq4_xs"},
    Ending{"-q3-k-m", "gguf_q3_k_m"},
    Ending{"-q2-k", "gguf_q2_k"},
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

// llama.cpp loads a file in parts by the name of the first: "...-00001-of-00003".
void drop_part(std::string& name) {
  constexpr std::string_view form = "-00000-of-00000";
  if (name.size() <= form.size()) return;
  const std::string_view tail = std::string_view(name).substr(name.size() - form.size());
  for (std::size_t i = 0; i < form.size(); ++i)
    if (form[i] == '0' ? !std::isdigit(static_cast<unsigned char>(tail[i])) : tail[i] != form[i])
      return;
  name.resize(name.size() - form.size());
}

// Lower case, without folder, ".gguf" and part, underscores, colons and the dot before a GGUF type
// as hyphens.
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
  drop_part(out);
  for (std::string_view type : {".q", ".iq", ".f16", ".bf16"})
    if (const auto dot = out.rfind('.'); dot != std::string::npos && out.find(type, dot) == dot)
      out[dot] = '-';
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
