#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "spec/weights.h"

// The pieces a roofline is made of. Rates are inverse (seconds per byte, seconds per flop), with
// their share of the peak already inside.
namespace kvsim::cost::roofline {

// A weight matrix that every scheduled token goes through, in `layers` layers.
struct Linear {
  std::string name;
  std::int64_t layers = 0;
  double weight_bytes = 0;  // per layer
  double token_bytes = 0;   // activations in and out
  double token_flops = 0;
  double seconds_per_flop = 0;
  // MLA's up-projection of the latent: decode tokens absorb it, prefill re-materialises the keys.
  bool up_projection = false;
};

// Routed experts: the weights read grow with the experts touched.
struct Experts {
  std::int64_t layers = 0;
  double local_experts = 0, expert_bytes = 0;
  double share = 0;         // of all experts that one token picks
  double ranks_tokens = 1;  // tokens of the whole expert group per token of this rank
  double token_rows = 0;    // expert rows on this rank per token of the group
  double row_flops = 0, row_bytes = 0;
  double seconds_per_flop = 0;
};

// Attention of one layer group.
struct Attention {
  std::string name;
  int group = 0;
  std::int64_t layers = 0, index_layers = 0;
  double kv_bytes = 0, index_bytes = 0;        // per token read
  double decode_flops = 0, prefill_flops = 0;  // per (query, key) pair
  double index_flops = 0;                      // per pair of the whole context
  double write_bytes = 0;                      // per token
};

// State update of a recurrent group.
struct Recurrent {
  std::string name;
  std::int64_t layers = 0;
  double state_bytes = 0, token_flops = 0;
};

// Element-wise kernels: norms, rope and cache write, activation.
struct Elementwise {
  std::int64_t calls = 0;  // over all layers
  double token_bytes = 0;  // summed over the calls
};

struct AllReduce {
  std::int64_t calls = 0;
  double ranks = 1;
  double tokens = 1;  // of the reducing group per token of this rank
};

struct Plan {
  std::vector<Linear> linears;
  std::vector<Experts> experts;
  std::vector<Attention> attention;
  std::vector<Recurrent> recurrent;
  Elementwise elementwise;
  AllReduce attention_reduce, expert_reduce;
  Linear head;              // per sampled row
  double vocab = 0;         // per rank
  double hidden_bytes = 0;  // of one token
  std::int64_t stages = 1;
  double tp = 1;
  double seconds_per_byte = 0, seconds_per_link_byte = 0, reduce_floor = 0, send_floor = 0;
  double attention_seconds_per_flop = 0;
};
Plan plan_roofline(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                   const RooflineOptions& options);

}  // namespace kvsim::cost::roofline
