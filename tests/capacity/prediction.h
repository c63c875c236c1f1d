#pragma once
#include <optional>
#include <string>

#include "capacity/reports.h"
#include "memory/pool.h"

namespace kvsim::testing {

// What kvsim says to a request, through the flags a user would type.
struct Answer {
  memory::Pool pool;
  double plain_token_bytes = 0;
  double plain_tokens = 0;  // (nameplate * fraction - parameters) over bytes of a token
};

// `kv_gib`: the KV memory as given; empty: from model, GPU and flags alone.
Answer ask(const Request& request, const Report& report, std::optional<double> kv_gib = {});

// Tokens of a geometry without a model at that KV memory, as the row's engine counts them.
std::int64_t tokens_of_geometry(const Geometry& geometry, const Report& report, double kv_gib);

}  // namespace kvsim::testing
