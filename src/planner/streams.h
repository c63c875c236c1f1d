#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "memory/pool.h"
#include "planner/request.h"

namespace kvsim::planner {

// Requests of one length that the deployment holds at once, by several definitions: published
// counts differ by GB or GiB and by whole blocks or bytes.
struct Stream {
  std::int64_t tokens = 0;
  Bytes kv_each;                       // of one request over all GPUs of its replica
  double need = 0;                     // of one request in the pool, in its unit
  std::int64_t requests = 0;           // by the engine's own allocation
  std::int64_t by_bytes = 0;           // KV bytes of the deployment / bytes of one request
  std::optional<std::int64_t> if_gib;  // were a given pool's GB meant as GiB (1.0737 times)
};

struct Streams {
  std::string unit;  // of `need`
  Bytes deployment_kv;
  std::vector<Stream> rows;
};

Streams count_streams(const Request& request, const std::vector<std::int64_t>& lengths);

}  // namespace kvsim::planner
