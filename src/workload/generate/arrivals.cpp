#include "workload/generate/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "diag/check.h"
#include "random/stream.h"

namespace kvsim::workload {
namespace {

constexpr std::string_view kinds[] = {"poisson", "gamma", "constant", "diurnal", "closed"};
constexpr double turn = 6.283185307179586476925;

// sin by its series after reduction to a quarter turn: the same bits with every libm.
double portable_sin_turns(double turns) {
  double t = turns - std::floor(turns);  // [0, 1)
  double sign = 1;
  if (t >= 0.5) t -= 0.5, sign = -1;
  if (t > 0.25) t = 0.5 - t;
  const double x = t * turn;
  double term = x, sum = x;
  for (int k = 1; k <= 10; ++k) {
    term *= -x * x / ((2 * k) * (2 * k + 1));
    sum += term;
  }
  return sign * sum;
}

double rate_at(const ArrivalSpec& spec, double t) {
  const double part = t / to_seconds(*spec.period);
  if (spec.rates.empty())
    return *spec.rate * (1 + spec.amplitude.value_or(0) * portable_sin_turns(part));
  const double within = (part - std::floor(part)) * static_cast<double>(spec.rates.size());
  return spec.rates[std::min(static_cast<std::size_t>(within), spec.rates.size() - 1)];
}

double highest_rate(const ArrivalSpec& spec) {
  if (spec.rates.empty()) return *spec.rate * (1 + spec.amplitude.value_or(0));
  return *std::ranges::max_element(spec.rates);
}

}  // namespace

void fields(config::FieldVisitor& v, ArrivalSpec& s) {
  using namespace config;
  v.choice({"process", "how arrivals follow one another", "", true}, s.kind, kinds);
  v.field({"rate", "arrivals per second; diurnal: their mean"}, s.rate, above_up_to(0, 1e9));
  v.field(
      {"burstiness", "gamma: shape of the gaps, 1 = Poisson, below 1 burstier (as in vllm bench)"},
      s.burstiness, above_up_to(0, 1e6));
  v.field({"rescale", "stretch all times so that the last is number / rate, as vllm bench does"},
          s.rescale);
  v.field({"amplitude", "diurnal: rate * (1 + amplitude * sin(2 pi t / period))"}, s.amplitude,
          between(0, 1));
  v.field({"period", "diurnal: length of the cycle"}, s.period, above(0));
  v.field({"rates", "diurnal: rates of equal parts of the period, instead of rate and amplitude"},
          s.rates, between(0, 1e9));
  v.field({"clients", "closed: so many, each with one request, chat or agent at a time"}, s.clients,
          between(1, 1e6));
  v.object({"think", "closed: pause between an end and the client's next one"}, s.think);
}

void check(const ArrivalSpec& s, Diagnostics& diagnostics, const std::string& pointer) {
  const bool open = s.kind != ArrivalKind::closed, diurnal = s.kind == ArrivalKind::diurnal,
             stepped = !s.rates.empty();
  const struct {
    std::string_view name;
    bool given, needed, allowed;
  } rules[] = {
      {"rate", s.rate.has_value(), open && !stepped, open && !stepped},
      {"burstiness", s.burstiness.has_value(), s.kind == ArrivalKind::gamma,
       s.kind == ArrivalKind::gamma},
      {"rescale", s.rescale, false, s.kind == ArrivalKind::poisson || s.kind == ArrivalKind::gamma},
      {"amplitude", s.amplitude.has_value(), diurnal && !stepped, diurnal && !stepped},
      {"period", s.period.has_value(), diurnal, diurnal},
      {"rates", stepped, false, diurnal},
      {"clients", s.clients.has_value(), !open, !open},
      {"think", s.think.has_value(), false, !open},
  };
  const auto add = [&](std::string message) {
    Diagnostic d;
    d.code = "workload-arrival", d.pointer = pointer, d.message = std::move(message);
    diagnostics.add(std::move(d));
  };
  const std::string_view kind = kinds[static_cast<int>(s.kind)];
  for (const auto& rule : rules) {
    if (rule.needed && !rule.given)
      add(fmt::format("process \"{}\" needs \"{}\"", kind, rule.name));
    if (rule.given && !rule.allowed)
      add(fmt::format("\"{}\" has no meaning for process \"{}\"{}", rule.name, kind,
                      stepped && diurnal ? " with rates" : ""));
  }
  if (stepped && highest_rate(s) <= 0) add("all rates are 0: nothing would ever arrive");
  if (s.think) check(*s.think, diagnostics, pointer + "/think");
}

ArrivalTimes::ArrivalTimes(const ArrivalSpec& spec, std::uint64_t seed,
                           std::optional<std::int64_t> count)
    : spec_(spec), seed_(seed) {
  KVSIM_CHECK(spec.kind != ArrivalKind::closed, "a closed loop has no times of its own");
  if (!spec.rescale) return;
  KVSIM_CHECK(count.has_value(), "rescaling needs the number of arrivals");
  double last = 0;
  for (std::int64_t i = 0; i < *count; ++i) last = advance();
  stretch_ = last > 0 ? static_cast<double>(*count) / *spec.rate / last : 1;
  at_ = 0, now_ = 0;
}

double ArrivalTimes::advance() {
  random::Stream stream(seed_, "arrivals", at_++);
  switch (spec_.kind) {
    case ArrivalKind::poisson:
      return now_ += stream.exponential(1 / *spec_.rate);
    case ArrivalKind::gamma:
      return now_ += stream.gamma(*spec_.burstiness, 1 / (*spec_.rate * *spec_.burstiness));
    case ArrivalKind::constant:
      return now_ = static_cast<double>(at_ - 1) / *spec_.rate;
    case ArrivalKind::diurnal: {  // thinning of a Poisson process at the highest rate (Lewis and
                                  // Shedler)
      const double highest = highest_rate(spec_);
      do now_ += stream.exponential(1 / highest);
      while (stream.uniform() * highest >= rate_at(spec_, now_));
      return now_;
    }
    case ArrivalKind::closed:
      break;
  }
  return now_;
}

Time ArrivalTimes::next() { return Time(to_duration(advance() * stretch_).value()); }

}  // namespace kvsim::workload
