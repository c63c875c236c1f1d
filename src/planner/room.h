#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/request.h"

namespace kvsim::planner {

// "Room for N requests of L tokens": what to set so that the deployment starts and holds them all
// at their full length. Every answer was verified by sizing the deployment with it; a given number
// of blocks (num_gpu_blocks_override) is left out.
struct RoomAsk {
  std::int64_t requests = 1, tokens = 1;
};

struct Room {
  RoomAsk ask;
  std::int64_t holds = 0;  // requests of that length as the deployment stands; 0 = does not start
  // The smallest kv_cache_memory_bytes, per GPU, and all GPUs' together. Empty when no size does
  // (a pool that does not depend on it).
  std::optional<Bytes> kv_memory, deployment_kv;
  bool kv_memory_fits = false;     // beside everything else on the GPU
  bool length_binds = false;       // one request of max_model_len needs more than the room
  std::string fraction_flag;       // "" = the engine has none
  std::optional<double> fraction;  // the smallest that does, in steps of 0.001, <= 0.98
  std::vector<Advice> instead;     // when no fraction does: what would
};

Room make_room(const Request& request, const RoomAsk& ask);

// The flag for the engine's share of memory, with underscores; "" = it has none.
std::string fraction_name(memory::Engine engine);

}  // namespace kvsim::planner
