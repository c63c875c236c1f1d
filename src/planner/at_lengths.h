#pragma once
#include <cstdint>
#include <string>

#include "memory/pool.h"
#include "planner/length_mix.h"

namespace kvsim::planner {

// How many requests of these lengths a deployment holds at once, from the pool's own arithmetic.
// A request keeps its prompt, then one token more with every step; its last output token is never
// kept, so after step k of `output` it keeps prompt + k - 1. Steps take equal time, prefill is one
// of them, and a running request is met in proportion to its steps (a long answer is seen for
// longer). Nothing is shared between requests.
struct AtLengths {
  std::string description;
  std::int64_t requests = 0;  // of the trace; 0 = a distribution
  double refused = 0;         // share longer than max_model_len, not counted in the rest
  double mean_prompt_tokens = 0, mean_output_tokens = 0;
  std::string unit;
  double capacity = 0;                       // of one replica, in that unit
  double mean_held = 0, deviation_held = 0;  // of a running request at a random moment
  double mean_full = 0, most_full = 0;       // at its full length: of a running one, of the longest
  // Requests of the whole deployment.
  double steady = 0;             // capacity / mean_held: what fits on average
  std::int64_t safe = 0;         // so many fit 95 % of the time (independent, normal approximation)
  std::int64_t at_peak = 0;      // all at their full length, of average requests
  std::int64_t all_longest = 0;  // all at the longest request's full length: always fits
  std::int64_t max_num_seqs = 0;  // of the whole deployment
};

// Throws InputError when no request of the mix is as short as max_model_len.
AtLengths at_lengths(const memory::Pool& pool, const LengthMix& mix);

// Largest n with n * mean + z * sqrt(n) * deviation <= capacity, z = 1.645 (95 %).
std::int64_t safe_number(double capacity, double mean, double deviation);

}  // namespace kvsim::planner
