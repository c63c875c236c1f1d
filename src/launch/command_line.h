#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "launch/flag_table.h"
#include "launch/shell_words.h"

// The command that starts an engine, as people paste it: `vllm serve MODEL --flags`,
// `python -m vllm.entrypoints.openai.api_server`, `sglang.launch_server`, `trtllm-serve`,
// `llama-server`, with environment assignments, a `docker run ... image` or another program in
// front of it, prompts, continued lines and quotes.
namespace kvsim::launch {

struct Command {
  std::string engine;   // kvsim's name: vllm-v1, sglang, trtllm, llamacpp
  std::string program;  // as typed: "vllm serve", or the container image
  std::string version;  // "" unless an image's tag says it
  std::string version_from;
  Translation flags;
};

// Finds the first command of a known engine in `text` and translates it to the flags of
// `kvsim plan`. `name` is what errors call the text. Throws InputError: no such command
// (command-unknown, with the programs looked for), a quote not closed, a value missing or
// unreadable, a word that belongs to no flag.
Command read_command(std::string_view text, const std::string& name);

// The arguments among `words`, each with its row; what stands before the first flag or belongs to
// none goes to `positionals`.
std::vector<Argument> collect_arguments(const EngineFlags& flags, const std::vector<Word>& words,
                                        std::vector<Word>& positionals);

}  // namespace kvsim::launch
