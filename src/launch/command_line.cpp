#include "launch/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diag/diagnostic.h"
#include "launch/secrets.h"
#include "launch/translate.h"
#include "launch/values.h"
#include "units/parse.h"

namespace kvsim::launch {
namespace {

using Words = std::vector<Word>;

// Where an engine's program stands in a command, and where its arguments start.
struct Found {
  const EngineFlags* flags = nullptr;
  std::string program;
  std::size_t arguments = 0;
  std::string version, version_from;
};

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::optional<Found> module_at(const Words& words, std::size_t i) {
  const std::string& m = words[i].text;

  if (m == "vllm.entrypoints.openai.api_server" || m == "vllm.entrypoints.api_server")
    return Found{&vllm_flags(), "python -m " + m, i + 1, {}, {}};
  if (m == "vllm.entrypoints.cli.main" && i + 1 < words.size() && words[i + 1].text == "serve")
    return Found{&vllm_flags(), "python -m " + m + " serve", i + 2, {}, {}};
  if (m == "sglang.launch_server")
    return Found{
        &sglang_flags(), i > 0 && words[i - 1].text == "-m" ? "python -m " + m : m, i + 1, {}, {}};
  return std::nullopt;
}

std::optional<Found> program_at(const Words& words, std::size_t i) {
  const std::string program = base_name(words[i].text);
  const bool serve = i + 1 < words.size() && words[i + 1].text == "serve";
  if (program == "vllm" && serve) return Found{&vllm_flags(), "vllm serve", i + 2, {}, {}};
  if (program == "sglang" && serve) return Found{&sglang_flags(), "sglang serve", i + 2, {}, {}};
  if (program == "trtllm-serve")
    return Found{&trtllm_flags(), program, i + (serve ? 2u : 1u), {}, {}};
  if (program == "llama-server" || program == "llama-server.exe" || program == "llama-cli")
    return Found{&llamacpp_flags(), program, i + 1, {}, {}};
  return module_at(words, i);
}

// A container image whose entry point is the engine, and the engine's version in its tag.
std::optional<Found> image_at(const Words& words, std::size_t i) {
  const std::string& image = words[i].text;
  const auto colon = image.rfind(':');
  const std::string tag = colon == std::string::npos ? "" : image.substr(colon + 1);
  const bool has_slash = image.find('/') != std::string::npos;
  std::optional<Found> found;
  if (has_slash && image.find("vllm-openai") != std::string::npos)
    found = Found{&vllm_flags(), image, i + 1, {}, {}};
  else if (has_slash && image.find("lmsysorg/sglang") != std::string::npos)
    found = Found{&sglang_flags(), image, i + 1, {}, {}};
  else if (has_slash && image.find("llama.cpp:server") != std::string::npos)
    found = Found{&llamacpp_flags(), image, i + 1, {}, {}};
  if (!found) return std::nullopt;
  const std::size_t v = tag.size() > 1 && tag[0] == 'v' ? 1 : 0;
  if (v < tag.size() && std::isdigit(static_cast<unsigned char>(tag[v])) &&
      tag.find('.') != std::string::npos) {
    found->version = tag.substr(0, tag.find('-'));
    found->version_from = image;
  }
  return found;
}

std::optional<Found> find_program(const Words& words) {
  std::optional<Found> image;
  bool container = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    container |= text == "docker" || text == "podman" || text == "nerdctl";
    if (container && !image) image = image_at(words, i);
    std::optional<Found> found = program_at(words, i);
    // In a container the flags before the image are the container's.
    if (found && container && !image) continue;
    if (!found) continue;
    if (image && image->flags == found->flags)
      found->version = image->version, found->version_from = image->version_from;
    return found;
  }
  return image;
}

// NAME=VALUE in front of the program, also after -e.
bool is_assignment(std::string_view word) {
  const auto equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 && word[0] != '-' &&
         word.substr(0, equals).find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

// Variables that say what a flag of plan says; each engine reads its own.
std::string_view partition_variable(std::string_view engine) {
  if (engine == "vllm-v1") return "VLLM_PP_LAYER_PARTITION";
  return engine == "sglang" ? "SGLANG_PP_LAYER_PARTITION" : "";
}

bool is_integer_list(std::string_view text) {
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    const auto number = parse_integer(one);
    if (!number || *number < 1) return false;
    if (one.size() == text.size()) return true;
    text.remove_prefix(one.size() + 1);
  }
}

// Of a variable assigned twice the last counts.
void take_partition(Translation& out, const Word& word, std::string_view name,
                    const std::string& file) {
  const std::string value = word.text.substr(name.size() + 1);
  if (!is_integer_list(value))
    throw InputError(
        Diagnostic{.code = "command-value",
                   .message = fmt::format("{}: expected layers of each stage such as 16,32, found "
                                          "\"{}\"",
                                          name, value),
                   .file = file,
                   .line = word.line,
                   .column = 1});
  std::erase_if(out.settings, [](const Setting& s) { return s.flag == "--pp-layer-partition"; });
  out.settings.push_back({"--pp-layer-partition", value, word.text, word.line});
}

void environment(Translation& out, std::string_view engine, const Words& words, std::size_t end,
                 const std::string& file) {
  struct Known {
    std::string_view name, touches;
  };
  static constexpr Known known[] = {
      {"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "the CUDA graph estimate in the budget"},
      {"VLLM_USE_V1", "which engine core runs"},
      {"VLLM_ENABLE_MOE_DP_CHUNK", "activation memory of the experts"},
  };
  for (std::size_t i = 0; i < end && i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (!is_assignment(word)) continue;
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    const auto* row = std::find_if(std::begin(known), std::end(known),
                                   [&](const Known& k) { return k.name == name; });
    if (name == partition_variable(engine))
      take_partition(out, words[i], name, file);
    else if (row != std::end(known) && word != "VLLM_USE_V1=1")
      out.unmodelled.push_back({word, std::string(row->touches), words[i].line});
    else if (name.starts_with("VLLM_") || name.starts_with("SGL") || name.starts_with("CUDA_"))
      out.neutral.push_back(is_secret(name) ? std::string(name) + "=..." : word);
  }
}

[[noreturn]] void no_program(const std::string& name) {
  throw InputError(Diagnostic{
      .code = "command-unknown",
      .message = "no command that starts an engine is in the text",
      .file = name,
      .hint = "looked for: vllm serve, python -m vllm.entrypoints.openai.api_server, "
              "sglang.launch_server, sglang serve, trtllm-serve, llama-server, and docker run of "
              "their images"});
}

// The model may stand as a word of its own for vLLM and trtllm-serve.
void take_positionals(Command& command, const EngineFlags& flags, const Words& words,
                      const std::string& name) {
  std::size_t next = 0;
  const bool positional = flags.engine == "vllm-v1" || flags.engine == "trtllm";
  if (positional && !words.empty()) {
    command.flags.model = words[0].text, command.flags.model_line = words[0].line;
    next = 1;
  }
  if (next < words.size())
    throw InputError(
        Diagnostic{.code = "command-word",
                   .message = fmt::format("\"{}\" belongs to no flag", words[next].text),
                   .file = name,
                   .line = words[next].line,
                   .column = 1,
                   .hint = "quote a value that holds blanks"});
}

}  // namespace

Command read_command(std::string_view text, const std::string& name) {
  for (const Words& words : shell_commands(text, name)) {
    const auto found = find_program(words);
    if (!found) continue;
    Command command;
    command.engine = found->flags->engine;
    command.program = found->program;
    command.version = found->version, command.version_from = found->version_from;
    const Words rest(words.begin() + static_cast<std::ptrdiff_t>(found->arguments), words.end());
    Words positionals;
    const auto arguments = collect_arguments(*found->flags, rest, positionals);
    command.flags = translate(*found->flags, arguments, name);
    take_positionals(command, *found->flags, positionals, name);
    environment(command.flags, command.engine, words, found->arguments, name);
    return command;
  }
  no_program(name);
}

}  // namespace kvsim::launch
