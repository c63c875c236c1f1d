#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "launch/flag_table.h"

// The start-up log of an engine, as people paste it: which settings it ran with and which figures
// it printed, each with its line.
namespace kvsim::launch {

// What a printed figure is of. Sizes are bytes on one GPU.
enum class Term {
  total_memory,
  free_memory,
  budget,
  weights,
  activation,
  non_torch,
  consumed,    // weights and non-torch in one figure
  peak_torch,  // weights and activations in one figure
  cuda_graphs,
  graph_estimate,
  kv_memory,
  state_memory,
  tokens,
  blocks,
  cpu_blocks,
  block_size,
  max_concurrency,
  max_model_len,
  utilization,
  equivalent_utilization,
  kv_needed,
  estimated_length,
  padding_layers,
  state_slots,
  residual,  // activation peak and non-torch in one figure: what budget, weights and KV leave
};
inline constexpr std::array<std::string_view, 25> term_names{"total memory",
                                                             "free memory",
                                                             "budget",
                                                             "weights",
                                                             "activation peak",
                                                             "non-torch",
                                                             "weights and non-torch",
                                                             "peak of the tensor allocator",
                                                             "CUDA graphs",
                                                             "CUDA graph estimate",
                                                             "KV memory",
                                                             "state memory",
                                                             "KV tokens",
                                                             "blocks",
                                                             "CPU blocks",
                                                             "block size",
                                                             "max concurrency",
                                                             "max model len",
                                                             "utilization",
                                                             "equivalent utilization",
                                                             "KV for one request",
                                                             "estimated length",
                                                             "padding layers",
                                                             "state slots",
                                                             "activation peak and non-torch"};
constexpr std::string_view name(Term t) { return term_names[static_cast<std::size_t>(t)]; }

struct Figure {
  Term term;
  double value = 0;
  std::string
      worker;  // which process printed it; "" = the only one, or the one that speaks for all
  int line = 0;
  std::string text;
};

struct Refusal {
  int line = 0;
  std::string text;
};

struct EngineLog {
  std::string engine;   // kvsim's name
  std::string version;  // "" = not printed
  int starts = 1;       // more: the log holds several starts, the last is read
  Translation flags;
  std::vector<Figure> figures;  // in the order of the lines
  std::vector<Refusal> refusals;
  // That printed figures of their own, in the order of the lines; an engine core is none where its
  // workers print theirs.
  std::vector<std::string> workers;

  // The worker whose pool is the smallest, "" where the log does not keep workers apart.
  std::string poorest() const;
  // The figure to compare: of the poorest worker, else of the process that speaks for all, else the
  // worst of any (most weights, fewest tokens). Null when the log does not print it.
  const Figure* find(Term term) const;
};

// Reads a log of vLLM, SGLang, TensorRT-LLM or llama.cpp. Colours, carriage returns and prefixes do
// not matter. "GB" of vLLM and SGLang mean GiB and are read so. `name` is what errors call the
// text. Throws InputError (log-unknown) for a text without any line that says how memory was spent;
// the message lists what was looked for. Cost: O(text).
EngineLog read_engine_log(std::string_view text, const std::string& name);

}  // namespace kvsim::launch
