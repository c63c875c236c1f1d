#include "metrics/overload.h"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <random>

using namespace kvsim;
using namespace kvsim::metrics;

namespace {

// A queue of one server: Poisson arrivals at `rate`, service of one second; its state over time.
std::optional<Overload> queue(double rate, int requests, unsigned seed) {
  std::mt19937_64 bits(seed);
  StateSeries series;
  std::deque<double> waiting;
  double now = 0, busy_until = 0, first = -1, last = 0, since = 0;
  bool busy = false;
  const auto advance = [&](double to) {
    series.add(Time(to_duration(since).value()), Time(to_duration(to).value()),
               {0.0, busy ? 1.0 : 0.0, static_cast<double>(waiting.size())});
    since = to;
  };
  int left = requests;
  double next = 0;
  while (left > 0 || busy) {
    if (left > 0 && (!busy || next <= busy_until)) {
      now = next;
      advance(now);
      if (first < 0) first = now;
      last = now;
      --left;
      if (busy)
        waiting.push_back(now);
      else
        busy = true, busy_until = now + 1;
      const double u = (static_cast<double>(bits() >> 11) + 0.5) / 9007199254740992.0;
      next = now - std::log(u) / rate;
    } else {
      now = busy_until;
      advance(now);
      if (waiting.empty())
        busy = false;
      else
        waiting.pop_front(), busy_until = now + 1;
    }
  }
  return assess_overload(series, Time(to_duration(first).value()), Time(to_duration(last).value()),
                         requests);
}

}  // namespace

TEST_CASE("a queue whose arrivals outrun its service is overloaded and grows by the difference") {
  for (const double rate : {1.3, 2.0, 5.0}) {
    CAPTURE(rate);
    const auto o = queue(rate, 4000, 5);
    REQUIRE(o.has_value());
    CHECK(o->overloaded);
    CHECK(o->arrival_rate == doctest::Approx(rate).epsilon(0.05));
    CHECK(o->queue_growth_per_s == doctest::Approx(rate - 1).epsilon(0.15));
    CHECK(o->completion_rate == doctest::Approx(1).epsilon(0.1));
    CHECK(o->sentence.find("outrun") != std::string::npos);
  }
}

TEST_CASE("a stable queue is not overloaded however it fluctuates") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (const double rate : {0.5, 0.8, 0.9}) {
      CAPTURE(seed);
      CAPTURE(rate);
      const auto o = queue(rate, 1000, seed);
      REQUIRE(o.has_value());
      CHECK_FALSE(o->overloaded);
      CHECK(o->sentence.empty());
    }
  }
}

TEST_CASE("few requests or all at once say nothing about rates") {
  CHECK_FALSE(queue(2, 19, 1).has_value());
  StateSeries series;
  series.add(Time(std::int64_t{0}), Time(ns_per_second), {0, 1, 99});
  CHECK_FALSE(
      assess_overload(series, Time(std::int64_t{0}), Time(std::int64_t{0}), 100).has_value());
}
