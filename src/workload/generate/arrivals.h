#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "diag/diagnostic.h"
#include "units/units.h"
#include "workload/generate/distribution.h"

namespace kvsim::workload {

enum class ArrivalKind { poisson, gamma, constant, diurnal, closed };

// When requests (of chats and agents: the first ones) arrive. Only the fields of its kind may be
// given.
struct ArrivalSpec {
  ArrivalKind kind = ArrivalKind::poisson;
  std::optional<double> rate;  // per second; diurnal: the mean, unless `rates` is given
  std::optional<double>
      burstiness;        // gamma: shape of the gaps; 1 = Poisson, below 1 burstier (as vllm bench)
  bool rescale = false;  // stretch all times so that the last is requests / rate (as vllm bench)
  std::optional<double> amplitude;  // diurnal: rate * (1 + amplitude * sin(2 pi t / period))
  std::optional<Duration> period;   // diurnal
  std::vector<double> rates;  // diurnal: rates of equal parts of the period instead of the sine
  std::optional<std::int64_t>
      clients;                     // closed: so many, each with one request (chat, agent) at a time
  std::optional<PauseSpec> think;  // closed: pause between an end and the client's next request
};
void fields(config::FieldVisitor& v, ArrivalSpec& spec);
void check(const ArrivalSpec& spec, Diagnostics& diagnostics, const std::string& pointer);

// Times of an open process one after the other; closed is not one.
class ArrivalTimes {
 public:
  // `count` = how many there will be in all: needed for `rescale` alone.
  ArrivalTimes(const ArrivalSpec& spec, std::uint64_t seed, std::optional<std::int64_t> count);
  // The time of arrival number `at_`, which draws from stream (seed, "arrivals", number).
  Time next();

 private:
  double advance();  // unscaled seconds of the next one
  ArrivalSpec spec_;
  std::uint64_t seed_;
  std::uint64_t at_ = 0;
  double now_ = 0, stretch_ = 1;
};

}  // namespace kvsim::workload
