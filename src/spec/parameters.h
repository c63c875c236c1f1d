#pragma once
#include <cstdint>

#include "spec/model_spec.h"

// Parameters by part, from a model's dimensions alone: what weights occupy and matrix multiplies
// cost. Biases are left out; they stay below 0.1 % of a layer in every family.
namespace kvsim::spec {

struct LayerParameters {
  std::int64_t mixer = 0;    // attention projections, indexer included, or the recurrent mixer
  std::int64_t mlp = 0;      // dense MLP
  std::int64_t router = 0;   // router, and the projections to and from a latent expert width
  std::int64_t experts = 0;  // all routed experts
  std::int64_t shared = 0;   // shared experts
  std::int64_t norms = 0;
  std::int64_t total() const { return mixer + mlp + router + experts + shared + norms; }
};

struct ModelParameters {
  std::int64_t embedding = 0;
  std::int64_t lm_head = 0;  // 0 when tied to the embedding
  LayerParameters layers;    // summed over all layers
  std::int64_t extra = 0;    // ModelSpec::extra_params
  std::int64_t vision = 0;   // ModelSpec::vision_params
  std::int64_t mtp =
      0;  // multi-token prediction layers, loaded only for speculation; in neither sum below
  std::int64_t active =
      0;  // parameters that one token passes through; the embedding row is not counted
  std::int64_t total() const { return embedding + lm_head + layers.total() + extra + vision; }
};

LayerParameters layer_parameters(const ModelSpec& model, std::int64_t layer);
// One routed expert of one layer; 0 without MoE.
std::int64_t expert_parameters(const ModelSpec& model);
ModelParameters count_parameters(const ModelSpec& model);

}  // namespace kvsim::spec
