#include "engine/profiles/static_batching/static_batching.h"

#include <doctest/doctest.h>

#include <random>

#include "engine/small_world.h"

using namespace kvsim;
using namespace kvsim::engine;
using kvsim::testing::SmallWorld;

namespace {

using Counts = std::map<std::string, std::int64_t>;

SchedulerLimits limits(std::int64_t slots, Batching batching, Reservation reservation,
                       Allocator allocator = Allocator::exact) {
  SchedulerLimits l;
  l.max_num_seqs = 256;
  l.max_num_batched_tokens = 16384;
  l.max_model_len = 2048;
  l.num_blocks = slots;
  l.block_tokens = 1;
  l.static_batching = {batching, reservation, allocator};
  return l;
}

std::int64_t together(Reservation reservation, Allocator allocator) {
  SmallWorld w("static", limits(15700, Batching::iteration, reservation, allocator));
  for (int i = 0; i < 40; ++i) w.submit("r" + std::to_string(i), 161, 338);
  return static_cast<std::int64_t>(w.step().scheduled.size());
}

}  // namespace

TEST_SUITE("engine/static_batching") {
  TEST_CASE("a reservation is the model maximum or prompt and output or the next power of two") {
    CHECK(reservation_tokens(Reservation::max, 161, 338, 2048) == 2048);
    CHECK(reservation_tokens(Reservation::oracle, 161, 338, 2048) == 499);
    CHECK(reservation_tokens(Reservation::pow2, 161, 338, 2048) == 673);
    CHECK(reservation_tokens(Reservation::pow2, 10, 25, 2048) == 42);
    CHECK(reservation_tokens(Reservation::pow2, 10, 32, 2048) == 42);
    CHECK(reservation_tokens(Reservation::pow2, 10, 1, 2048) == 11);
    CHECK(reservation_tokens(Reservation::pow2, 1500, 300, 2048) == 2012);
    CHECK(reservation_tokens(Reservation::pow2, 1500, 513, 2048) == 2048);
  }

  TEST_CASE("the reservation and its placement decide how many requests run together") {
    CHECK(together(Reservation::max, Allocator::exact) == 7);
    CHECK(together(Reservation::max, Allocator::buddy) == 7);
    CHECK(together(Reservation::pow2, Allocator::exact) == 23);
    CHECK(together(Reservation::pow2, Allocator::buddy) == 15);
    CHECK(together(Reservation::oracle, Allocator::exact) == 31);
    CHECK(together(Reservation::oracle, Allocator::buddy) == 30);
  }

  TEST_CASE("a batch keeps the places and slots of members that have ended") {
    SchedulerLimits l = limits(8192, Batching::request, Reservation::max);
    l.max_num_seqs = 3;
    SmallWorld w("static", l);
    w.submit("a", 10, 2);
    w.submit("b", 10, 5);
    w.submit("c", 10, 4);
    w.submit("d", 10, 1);
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"a", 10}, {"b", 10}, {"c", 10}});
    CHECK(w.at(2).finished == std::vector<std::string>{"a"});
    CHECK(w.at(3).scheduled == Counts{{"b", 1}, {"c", 1}});
    CHECK(w.at(3).free_blocks == 8192 - 3 * 2048);
    CHECK(w.at(3).refusal == Refusal::max_num_seqs);
    // The slots of the member that ended are of no use to anybody.
    CHECK(w.at(3).kv_use->internal == 2048 + (2048 - 15) + (2048 - 14));
    CHECK(w.at(5).finished == std::vector<std::string>{"b"});
    CHECK(w.at(6).scheduled == Counts{{"d", 10}});
    CHECK(w.at(6).free_blocks == 8192 - 2048);
    CHECK(w.completed() == 4);
  }

  TEST_CASE("with iteration-level batching a place is taken in the step after it became free") {
    SchedulerLimits l = limits(8192, Batching::iteration, Reservation::max);
    l.max_num_seqs = 2;
    SmallWorld w("static", l);
    w.submit("a", 10, 2);
    w.submit("b", 10, 4);
    w.submit("c", 7, 2);
    w.run_all();
    CHECK(w.at(2).scheduled == Counts{{"a", 1}, {"b", 1}});
    CHECK(w.at(3).scheduled == Counts{{"b", 1}, {"c", 7}});
    CHECK(w.at(4).finished == std::vector<std::string>{"b", "c"});
  }

  TEST_CASE("the first request without room stops the admission and nobody overtakes it") {
    SmallWorld w("static", limits(100, Batching::iteration, Reservation::oracle));
    w.submit("a", 40, 20);
    w.submit("b", 40, 20);
    w.submit("c", 4, 2);
    CHECK(w.step().scheduled == Counts{{"a", 40}});
    CHECK(w.steps.back().refusal == Refusal::kv_blocks);
    CHECK(w.steps.back().free_blocks == 40);
    w.run_all();
    CHECK(w.at(21).scheduled == Counts{{"b", 40}, {"c", 4}});
  }

  TEST_CASE("free slots apart from each other serve no request that needs them together") {
    SmallWorld w("static", limits(100, Batching::iteration, Reservation::oracle));
    w.submit("a", 20, 5);
    w.submit("b", 20, 50);
    w.submit("c", 3, 2);
    w.step();
    w.submit("d", 10, 5);
    for (int i = 0; i < 5; ++i) w.step();
    // c and a have ended: 10 slots between d and b, 5 above b.
    w.submit("e", 8, 4);
    w.step();
    CHECK(w.steps.back().free_blocks == 15);
    CHECK(w.steps.back().refusal == Refusal::kv_blocks);
    CHECK(w.steps.back().scheduled.count("e") == 0);
  }

  TEST_CASE("prompts are computed whole and a step takes no second one beyond its tokens") {
    SchedulerLimits l = limits(8192, Batching::iteration, Reservation::oracle);
    l.max_num_batched_tokens = 100;
    SmallWorld w("static", l);
    w.submit("a", 150, 3);
    w.submit("b", 60, 3);
    w.submit("c", 39, 3);
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"a", 150}});
    CHECK(w.at(2).scheduled == Counts{{"a", 1}, {"b", 60}, {"c", 39}});
  }

  TEST_CASE("what an empty pool cannot hold is refused with the reason") {
    SmallWorld exact("static", limits(1000, Batching::iteration, Reservation::oracle));
    SmallWorld buddy("static",
                     limits(1000, Batching::iteration, Reservation::oracle, Allocator::buddy));
    const auto r = kvsim::testing::small_request("r", 0, 500, 13);
    CHECK_FALSE(exact.engine().why_unservable(r).has_value());
    CHECK(buddy.engine().why_unservable(r)->find(
              "513 contiguous slots and the pool has at most 512") != std::string::npos);
    CHECK(exact.engine()
              .why_unservable(kvsim::testing::small_request("r", 0, 2048, 1))
              ->find("max_model_len") != std::string::npos);
  }

  TEST_CASE("reservations balance in every step of random worlds") {
    std::mt19937 random(7);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int world = 0; world < 60; ++world) {
      SchedulerLimits l =
          limits(draw(200, 900), draw(0, 1) == 0 ? Batching::request : Batching::iteration,
                 static_cast<Reservation>(draw(0, 2)), static_cast<Allocator>(draw(0, 1)));
      l.max_model_len = 100;
      l.max_num_seqs = draw(1, 12);
      l.block_tokens = draw(1, 3);
      SmallWorld w("static", l);
      for (int i = 0; i < 30; ++i) w.submit("r" + std::to_string(i), draw(1, 60), draw(1, 70));
      w.run_all();
      CHECK(w.completed() == 30);
      CHECK(w.engine().profile().free_blocks() == l.num_blocks);
      for (const auto& step : w.steps) {
        const KvUse& u = *step.kv_use;
        const bool balances = u.states + u.reserved + u.internal + u.external ==
                              (l.num_blocks - step.free_blocks) * l.block_tokens;
        CHECK(balances);
        CHECK(u.states >= 0);
        CHECK(u.reserved >= 0);
        CHECK(u.internal >= 0);
        CHECK(u.external >= 0);
      }
    }
  }

  TEST_CASE("shares of the pool add up to one and external waste needs somebody who waits") {
    KvUseMeter meter;
    meter.add({50, 20, 10, 5}, 100, 3, KvUseMeter::Pressure::none, 1);
    CHECK(meter.under_pressure().seconds == 0);
    CHECK(meter.all().free == doctest::Approx(0.15));
    meter.add({50, 20, 10, 5}, 100, 5, KvUseMeter::Pressure::some, 3);
    CHECK(meter.under_pressure().external == doctest::Approx(0.20));
    CHECK(meter.under_pressure().free == 0);
    CHECK(meter.all().running == doctest::Approx(4.5));
    const auto all = meter.all();
    CHECK(all.states + all.reserved + all.internal + all.external + all.free == doctest::Approx(1));
  }
}
