#pragma once
#include <cstdint>
#include <random>
#include <string_view>

namespace kvsim::random {

// One named stream of random numbers. Seeded by hash(seed, name, index), so that a new consumer
// shifts nobody else's draws. The same bytes with every compiler on x86-64: mt19937_64 is fixed by
// the standard, and the samplers below use kvsim's own log and exp instead of libm's.
class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  std::uint64_t bits() { return engine_(); }
  double uniform();                                                   // [0, 1), 53 bits
  std::int64_t uniform_integer(std::int64_t low, std::int64_t high);  // inclusive, unbiased
  double exponential(double mean);
  double normal();                            // mean 0, deviation 1
  double lognormal(double mu, double sigma);  // exp(mu + sigma * normal())
  double gamma(double shape, double scale);   // Marsaglia and Tsang 2000

 private:
  std::mt19937_64 engine_;
};

// A 64-bit hash that never changes: SplitMix64's finaliser over the words and the bytes of `name`.
std::uint64_t mix(std::uint64_t a, std::uint64_t b);
std::uint64_t hash_name(std::string_view name);

// log and exp within 2 ulp of the true value for finite positive input (log) and |x| < 700 (exp),
// built from +, -, *, / and sqrt only, hence identical everywhere. exp is 0 below -700 and infinite
// above 709.
double portable_log(double x);
double portable_exp(double x);

}  // namespace kvsim::random
