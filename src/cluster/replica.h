#pragma once
#include <cstdint>

namespace kvsim::cluster {

// Engines that take their steps each for itself, or all at once: a step of the group lasts as long
// as that of its slowest engine, and an engine without work runs a dummy batch beside the others.
enum class Stepping { alone, lockstep };

// One deployment of a pool: engines [first, first + ranks), its data parallel ranks. Ranks of a
// mixture of experts exchange tokens in every layer and step in lockstep (vLLM
// v1/engine/core.py, DPEngineCoreProc).
struct Replica {
  std::uint32_t first = 0;
  std::uint32_t ranks = 1;
  Stepping stepping = Stepping::alone;
};

}  // namespace kvsim::cluster
