#pragma once
#include <string>

#include "memory/pool.h"

namespace kvsim::planner {

// What fills a GPU: the largest term of its ledger, the KV cache apart (weights taken together),
// the largest line in it, and how much is missing.
struct Binding {
  std::string term;  // "weights"
  Bytes bytes;
  std::string line;  // "weights: dense MLP"
  Bytes line_bytes;
  Bytes budget;
  // For one request of max_model_len: what it needs of KV and what there is. Zero without a
  // shortage of KV.
  Bytes kv_needed, kv_there;
};

Binding find_binding(const memory::Pool& pool);

}  // namespace kvsim::planner
