#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/request.h"

namespace kvsim::planner {

// How little is enough: the smallest tensor parallel size (at the asked pipeline size), the
// smallest pipeline size (at the asked tensor size), the widest KV format and the widest weight
// format that fit, each alone and verified by sizing the deployment with it.
struct Smallest {
  std::string name;              // a setting's name
  std::string asked;             // its value now, as text
  std::optional<Setting> found;  // empty: no value does
  bool same = false;             // the asked value is it
  std::int64_t tokens = 0;       // KV tokens with it
  double max_concurrency = 0;
  std::string tried;  // "1 to 64", or the formats
};

std::vector<Smallest> smallest_that_fit(const Request& request);

// KV formats of the engine for this model, widest first, "auto" meaning the model's own. Formats
// that it lacks are left out.
std::vector<std::string> engine_kv_formats(const Request& request);
// Weight formats, widest first: the checkpoint's dtype ("none"), then fp8 where the GPU
// multiplies it, int8, 4 bits (llama.cpp: none, gguf).
std::vector<std::string> engine_weight_formats(const Request& request);

}  // namespace kvsim::planner
