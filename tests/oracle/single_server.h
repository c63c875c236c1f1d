#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "units/units.h"

// What a first-come first-served server with one place does, in closed form.
namespace kvsim::testing {

// Start of service of each arrival: start(i) = max(arrival(i), start(i-1) + service(i-1)).
inline std::vector<Time> service_starts(const std::vector<Time>& arrivals,
                                        const std::vector<Duration>& service) {
  std::vector<Time> starts;
  starts.reserve(arrivals.size());
  Time free_at;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    starts.push_back(std::max(arrivals[i], free_at));
    free_at = starts.back() + service[i];
  }
  return starts;
}

// Mean time in the system, waiting and service, for Poisson arrivals at `rate` per second.
// M/D/1 (service always `service` seconds): Pollaczek and Khinchine with no variance.
inline double md1_seconds(double rate, double service) {
  return service + rate * service * service / (2 * (1 - rate * service));
}
// M/M/1 (exponential service with that mean).
inline double mm1_seconds(double rate, double service) { return service / (1 - rate * service); }

struct MeanAndError {
  double mean = 0;
  double standard_error = 0;
};
// Over independent replications, one value each.
inline MeanAndError mean_and_error(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  MeanAndError result;
  for (const double value : values) result.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.standard_error = std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace kvsim::testing
