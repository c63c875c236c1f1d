#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <vector>

#include "oracle/single_server.h"
#include "random/stream.h"
#include "sim/clock.h"
#include "sim/event_queue.h"

// The event queue and the random streams, alone, against queueing theory.

using namespace kvsim;
using namespace kvsim::testing;

namespace {

constexpr std::uint8_t service_done = 0, arrival = 1;

struct Customers {
  std::vector<Time> arrivals;
  std::vector<Duration> service;
};

Customers poisson_customers(std::uint64_t seed, std::size_t count, double rate, double mean_service,
                            bool constant_service) {
  Customers customers;
  random::Stream gaps(seed, "gaps"), lengths(seed, "lengths");
  Time now;
  for (std::size_t i = 0; i < count; ++i) {
    now = now + to_duration(gaps.exponential(1 / rate));
    customers.arrivals.push_back(now);
    customers.service.push_back(
        to_duration(constant_service ? mean_service : lengths.exponential(mean_service)));
  }
  return customers;
}

// A server with one place, as a discrete-event simulation.
std::vector<Time> simulate(const Customers& customers) {
  const std::size_t count = customers.arrivals.size();
  std::vector<Time> starts(count);
  sim::EventQueue queue;
  sim::Clock clock;
  std::deque<std::uint32_t> waiting;
  bool busy = false, forward = true;
  const auto start_next = [&] {
    if (busy || waiting.empty()) return;
    const std::uint32_t next = waiting.front();
    waiting.pop_front();
    busy = true;
    starts[next] = clock.now();
    queue.push(clock.now() + customers.service[next], service_done, next);
  };
  queue.push(customers.arrivals[0], arrival, 0);
  while (!queue.empty()) {
    const sim::Event event = queue.pop();
    forward = clock.advance_to(event.time) && forward;
    if (event.kind() == service_done) {
      busy = false;
    } else {
      waiting.push_back(event.target);
      if (event.target + 1 < count)
        queue.push(customers.arrivals[event.target + 1], arrival, event.target + 1);
    }
    start_next();
  }
  REQUIRE(forward);
  return starts;
}

double mean_time_in_system(const Customers& customers, const std::vector<Time>& starts) {
  double sum = 0;
  for (std::size_t i = 0; i < starts.size(); ++i)
    sum += to_seconds(starts[i] + customers.service[i] - customers.arrivals[i]);
  return sum / static_cast<double>(starts.size());
}

MeanAndError replicate(double rate, bool constant_service) {
  std::vector<double> means;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Customers customers = poisson_customers(seed, 20000, rate, 0.1, constant_service);
    means.push_back(mean_time_in_system(customers, simulate(customers)));
  }
  return mean_and_error(means);
}

}  // namespace

TEST_CASE("an event loop with one server equals the recursion to the nanosecond") {
  for (const bool constant_service : {true, false}) {
    const Customers customers = poisson_customers(3, 200000, 9, 0.1, constant_service);
    CHECK(simulate(customers) == service_starts(customers.arrivals, customers.service));
  }
}

TEST_CASE("the time in an M-D-1 queue agrees with Pollaczek and Khinchine") {
  CHECK(md1_seconds(5, 0.1) == doctest::Approx(0.15));
  CHECK(md1_seconds(8, 0.1) == doctest::Approx(0.30));
  for (const double rate : {2.0, 5.0, 8.0}) {
    const MeanAndError found = replicate(rate, true);
    CAPTURE(rate);
    CAPTURE(found.mean);
    CHECK(found.standard_error < 0.05 * found.mean);
    CHECK(std::fabs(found.mean - md1_seconds(rate, 0.1)) < 3 * found.standard_error);
  }
}

TEST_CASE("the time in an M-M-1 queue agrees with its closed form") {
  for (const double rate : {2.0, 5.0, 8.0}) {
    const MeanAndError found = replicate(rate, false);
    CAPTURE(rate);
    CAPTURE(found.mean);
    CHECK(std::fabs(found.mean - mm1_seconds(rate, 0.1)) < 3 * found.standard_error);
  }
}
