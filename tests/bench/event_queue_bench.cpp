#include <benchmark/benchmark.h>

#include <queue>
#include <vector>

#include "random/stream.h"
#include "sim/event_queue.h"

// A queue in steady state: pop the earliest event, push one a random while later. The heap of the
// standard library on the same events is the yardstick.

using namespace kvsim;

namespace {

std::vector<std::int64_t> delays() {
  random::Stream stream(1, "bench");
  std::vector<std::int64_t> values(1 << 16);
  for (std::int64_t& value : values) value = stream.uniform_integer(0, 1'000'000);
  return values;
}

void event_queue_hold(benchmark::State& state) {
  const auto delay = delays();
  sim::EventQueue queue;
  std::size_t i = 0;
  for (std::int64_t n = 0; n < state.range(0); ++n) queue.push(Time{delay[i++ & 0xffff]}, 0, 0);
  for (auto _ : state) {
    const sim::Event event = queue.pop();
    queue.push(event.time + Duration{delay[i++ & 0xffff]}, event.kind(), event.target);
  }
}
BENCHMARK(event_queue_hold)->Arg(16)->Arg(4096)->Arg(262144);

struct Later {
  bool operator()(const sim::Event& a, const sim::Event& b) const { return before(b, a); }
};

void yardstick_event_queue_hold(benchmark::State& state) {
  const auto delay = delays();
  std::priority_queue<sim::Event, std::vector<sim::Event>, Later> queue;
  std::size_t i = 0;
  std::uint64_t sequence = 0;
  const auto push = [&](Time time) {
    sim::Event event;
    event.time = time;
    event.rank = sequence++;
    queue.push(event);
  };
  for (std::int64_t n = 0; n < state.range(0); ++n) push(Time{delay[i++ & 0xffff]});
  for (auto _ : state) {
    const Time now = queue.top().time;
    queue.pop();
    push(now + Duration{delay[i++ & 0xffff]});
  }
}
BENCHMARK(yardstick_event_queue_hold)->Arg(16)->Arg(4096)->Arg(262144);

}  // namespace
