#include "planner/room.h"

#include <doctest/doctest.h>

#include <string>

#include "memory/holding.h"
#include "planner/change.h"
#include "planner/streams.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

bool holds(const Request& r, const RoomAsk& ask) {
  const auto pool = try_pool(r);
  return pool && pool->fits &&
         kvsim::memory::Holding(*pool).requests(ask.tokens) * r.options.plan.data_parallel_size >=
             ask.requests;
}

}  // namespace

TEST_CASE("room names the smallest pool and the smallest fraction that hold the requests") {
  for (const auto& [model, gpu, tp] :
       {std::tuple{"llama-3.1-8b", "h100-sxm", 1}, std::tuple{"gemma-3-27b", "h200-sxm", 1},
        std::tuple{"qwen3-next-80b-a3b", "h200-sxm", 2}}) {
    Request r = request(model, gpu, tp);
    r.options.max_model_len = 32768;
    const RoomAsk ask{16, 8192};
    const Room room = make_room(r, ask);
    const std::string name = model;
    CAPTURE(name);
    REQUIRE(room.kv_memory);
    CHECK(room.kv_memory_fits);
    CHECK(holds(changed(r, std::vector{number("kv_cache_memory_bytes",
                                              static_cast<double>(room.kv_memory->value()))}),
                ask));
    CHECK_FALSE(
        holds(changed(r, std::vector{number("kv_cache_memory_bytes",
                                            static_cast<double>(room.kv_memory->value() - 1))}),
              ask));
    REQUIRE(room.fraction);
    CHECK(holds(changed(r, std::vector{number(room.fraction_flag, *room.fraction)}), ask));
    CHECK_FALSE(
        holds(changed(r, std::vector{number(room.fraction_flag, *room.fraction - 0.001)}), ask));
    CHECK(room.instead.empty());
  }
}

TEST_CASE("a room of a plain model is its whole blocks and the null block") {
  Request r = request("llama-3-70b", "h100-sxm", 8);
  const Room room = make_room(r, {335, 4096});
  CHECK(room.kv_memory->value() == (335 * 256 + 1) * 16 * 40960LL);
  CHECK(room.deployment_kv->value() == room.kv_memory->value() * 8);
  CHECK_FALSE(room.length_binds);
}

TEST_CASE("room that no fraction gives names splits and formats that do") {
  const Request r = request("llama-3.1-8b", "l40s");
  const RoomAsk ask{200, 16384};
  const Room room = make_room(r, ask);
  CHECK_FALSE(room.fraction);
  CHECK_FALSE(room.kv_memory_fits);
  REQUIRE_FALSE(room.instead.empty());
  for (const Advice& a : room.instead) {
    CHECK(a.fits);
    CHECK(holds(changed(r, a.set), ask));
  }
}

TEST_CASE("one request of max model len can need more than the room") {
  const Room room = make_room(request("llama-3.1-8b", "h100-sxm"), {1, 1024});
  CHECK(room.length_binds);
  CHECK(room.kv_memory->value() == 131072LL * 131072);
}

TEST_CASE("four hundred and fifty gigabytes hold 343 335 and 10 streams of Llama 3 70B") {
  Request r = request("llama-3-70b", "h100-sxm", 8);
  r.options.kv_cache_memory = {Bytes(56'250'000'000)};
  r.options.max_model_len = 131072;
  const Streams s = count_streams(r, {4000, 4096, 128000});
  CHECK(s.deployment_kv.value() == 450'000'000'000);
  REQUIRE(s.rows.size() == 3);
  CHECK(s.rows[0].requests == 343);
  CHECK(s.rows[1].requests == 335);
  CHECK(s.rows[2].requests == 10);
  CHECK(s.rows[0].by_bytes == 450'000'000'000 / (327680LL * 4000));
  CHECK(s.rows[1].kv_each.value() == 327680LL * 4096);
  CHECK(*s.rows[0].if_gib == 368);
  CHECK(*s.rows[2].if_gib == 11);
  r.options.kv_cache_memory.clear();
  CHECK_FALSE(count_streams(r, {4000}).rows[0].if_gib);
}

TEST_CASE("splits of one size go by tensor parallelism first and touch the fraction last") {
  const auto splits = larger_splits(request("llama-3.1-8b", "l40s"));
  REQUIRE(splits.size() > 3);
  CHECK(splits[0][0].number == 2);
  CHECK(splits[0][1].number == 1);
  CHECK(splits[1][0].number == 1);
  CHECK(splits[1][1].number == 2);
  const Room room = make_room(request("llama-3.1-8b", "l40s"), {30, 16384});
  REQUIRE_FALSE(room.instead.empty());
  const Advice& split = room.instead.back();
  CHECK(split.set[0].name == "tensor_parallel_size");
  CHECK(split.set[0].number > split.set[1].number);
}

TEST_CASE("max model len binds only where a smaller pool holds the room") {
  Request r = request("llama-3.1-8b", "h100-sxm");
  r.options.max_model_len = 8192;
  CHECK_FALSE(make_room(r, {1, 8192}).length_binds);
  CHECK_FALSE(make_room(r, {3, 4096}).length_binds);
  CHECK(make_room(r, {1, 4096}).length_binds);
}
