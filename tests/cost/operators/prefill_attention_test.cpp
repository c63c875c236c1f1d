#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cost/operators/form.h"
#include "support/allocations.h"

using namespace kvsim::cost;

namespace {

using Named = std::map<std::string, double, std::less<>>;

Device gpu(double sms, double l2_mb, double bandwidth) {
  Device d;
  d.sms = sms, d.l2_mb = l2_mb, d.bandwidth = bandwidth;
  return d;
}

double us(const Form& f, const PrefillAttention& s, const Device& d, const Named& named,
          bool others_zero = false) {
  std::vector<double> p;
  for (const Parameter& q : f.parameters) {
    const auto at = named.find(q.name);
    p.push_back(at != named.end() ? at->second : others_zero ? 0 : q.start);
  }
  return f.microseconds(s, d, p, Buffers::cold);
}
std::vector<const Form*> rivals() {
  std::vector<const Form*> out;
  for (const Form& f : prefill_attention_forms()) out.push_back(&f);
  return out;
}
const Form& flash() { return *find_form("prefill_attn", "flash_attention_3"); }

PrefillAttention call(double batch, double q_len, double kv_len, double heads = 32,
                      double kv_heads = 8, double head_dim = 128, double window = 0) {
  PrefillAttention s;
  s.batch = batch, s.q_len = q_len, s.kv_len = kv_len, s.n_heads = heads, s.n_kv_heads = kv_heads;
  s.head_dim = head_dim, s.window = window;
  s.kv = s.compute = *find_format("bf16");
  return s;
}

// Only blocks cost something, a microsecond each: what a form counts is what it returns.
double counted(const Form& f, const PrefillAttention& s, double rows, double keys) {
  const Named p{{"block", 16384 / (rows * keys)},
                {"block_64", 1},
                {"block_192", 1},
                {"block_256", 1},
                {"windowed", 1},
                {"streaming", 1e12},
                {"cached", 1},
                {"l2_share", 1}};
  return us(f, s, gpu(1, 50, 3000), p, true);
}

struct Count {
  int total = 0, most = 0;
};
// Goes over every query of every tile and every key that it sees. `group` heads share a tile.
Count by_queries(int q, int kv, int window, int rows, int keys, int group) {
  Count out;
  for (int begin = 0; begin < q * group; begin += rows) {
    std::set<int> blocks;
    for (int row = begin; row < std::min(begin + rows, q * group); ++row) {
      const int at = kv - q + row / group;
      for (int key = std::max(0, window > 0 ? at - window + 1 : 0); key <= at; ++key)
        blocks.insert(key / keys);
    }
    out.total += int(blocks.size());
    out.most = std::max(out.most, int(blocks.size()));
  }
  return out;
}

struct Fitted {
  std::string form;
  Device device;
  Named p;
};
const std::vector<Fitted>& fits() {
  static const std::vector<Fitted> all{
      {"128x128",
       gpu(132, 50, 3352),
       {{"launch", 10.95},   {"launch_64", 1.24},  {"launch_256", 1.14}, {"sequences", 0.5},
        {"block", 1.89},     {"block_64", 0.6125}, {"block_192", 1.37},  {"block_256", 1.84},
        {"partial", 0.98},   {"windowed", 1.94},   {"start", 2.46},      {"start_64", 1.32},
        {"start_256", 1.65}, {"row", 1.78},        {"critical", 0.74},   {"blend", 0.515},
        {"streaming", 1},    {"cached", 11.3},     {"l2_share", 0.24},   {"reads", 0.15}}},
      {"64x64",
       gpu(142, 96, 864),
       {{"launch", 7.6},
        {"block", 7.7},
        {"block_64", 0.5},
        {"block_192", 2.36},
        {"block_256", 1.78},
        {"partial", 0.977},
        {"windowed", 1.22},
        {"start", 1.21},
        {"start_64", 0.74},
        {"row", 1.74},
        {"critical", 1.02},
        {"blend", 0.54},
        {"streaming", 0.746},
        {"cached", 10.2},
        {"l2_share", 1.35},
        {"reads", 1.28}}},
      {"128x128_large_64x64", gpu(148, 126, 8000), {{"launch", 10.3}, {"block", 0.73}}},
      {"64x64_small_128x128", gpu(142, 96, 864), {{"launch", 8.5}, {"block", 4.1}}},
      {"128x64", gpu(188, 128, 1597), {{"launch", 10.7}, {"block", 6.95}}},
      {"flash_attention_3",
       gpu(108, 40, 2039),
       {{"launch", 12.0},
        {"sequences", 2.98},
        {"block", 4.18},
        {"partial", 0.001},
        {"start", 0.22},
        {"row", 0.001},
        {"critical", 0.93},
        {"blend", 0.85},
        {"streaming", 1},
        {"cached", 7.2},
        {"l2_share", 0.44},
        {"reads", 0.64},
        {"merge", 7.03},
        {"merge_mb", 1.03}}}};
  return all;
}
double us(const Fitted& f, const PrefillAttention& s) {
  return us(*find_form("prefill_attn", f.form), s, f.device, f.p);
}
std::vector<PrefillAttention> shapes() {
  std::vector<PrefillAttention> out;
  for (const double batch : {1.0, 3.0, 16.0, 100.0})
    for (const double q : {1.0, 17.0, 64.0, 200.0, 512.0, 2048.0, 9000.0})
      for (const double prefix : {0.0, 100.0, 3000.0, 60000.0})
        for (const auto& [heads, kv_heads] : {std::pair{32.0, 8.0}, {8.0, 8.0}, {12.0, 1.0}})
          for (const double d : {64.0, 128.0, 192.0, 256.0})
            for (const double window : {0.0, 128.0, 1024.0})
              out.push_back(call(batch, q, q + prefix, heads, kv_heads, d, window));
  return out;
}

}  // namespace

TEST_CASE("the closed sums of blocks count what every query of every tile sees") {
  struct Tiles {
    std::string form;
    double head_dim;
    int rows, keys;
  };
  for (const auto& t :
       {Tiles{"128x128", 128, 128, 128}, Tiles{"128x64", 128, 128, 64}, Tiles{"64x64", 256, 64, 64},
        Tiles{"64x64_small_128x128", 64, 128, 128}, Tiles{"128x128_large_64x64", 256, 64, 64}})
    for (const int q : {1, 64, 100, 128, 129, 500, 1024})
      for (const int prefix : {0, 1, 63, 128, 200, 777})
        for (const int window : {0, 1, 64, 100, 128, 300}) {
          CAPTURE(t.form);
          CAPTURE(q);
          CAPTURE(prefix);
          CAPTURE(window);
          const Form& f = *find_form("prefill_attn", t.form);
          const Count by_hand = by_queries(q, q + prefix, window, t.rows, t.keys, 1);
          CHECK(counted(f, call(1, q, q + prefix, 1, 1, t.head_dim, window), t.rows, t.keys) ==
                doctest::Approx(by_hand.total));
        }
}

TEST_CASE("the longest tile bounds a call of few tiles") {
  const Form& f = *find_form("prefill_attn", "128x64");
  for (const int q : {1, 128, 129, 500, 1024})
    for (const int prefix : {0, 200, 777})
      for (const int window : {0, 100, 300}) {
        Named p{{"block", 2},        {"windowed", 1}, {"critical", 1},
                {"streaming", 1e12}, {"cached", 1},   {"l2_share", 1}};
        CAPTURE(q);
        CAPTURE(prefix);
        CAPTURE(window);
        // On so many SMs the throughput vanishes and the longest tile is left.
        CHECK(us(f, call(1, q, q + prefix, 1, 1, 128, window), gpu(1e12, 50, 3000), p, true) ==
              doctest::Approx(by_queries(q, q + prefix, window, 128, 64, 1).most));
      }
}

TEST_CASE("tiles that heads share count the blocks of their queries") {
  for (const int group : {1, 2, 4, 8, 16})
    for (const int q : {1, 16, 100, 128, 250, 256})
      for (const int prefix : {0, 64, 192, 640})
        for (const int window : {0, 64, 256}) {
          CAPTURE(group);
          CAPTURE(q);
          CAPTURE(prefix);
          CAPTURE(window);
          const double count =
              counted(flash(), call(1, q, q + prefix, group, 1, 128, window), 128, 64);
          const Count by_hand = by_queries(q, q + prefix, window, 128, 64, group);
          // A window's edge moves within a tile, which the sum takes at its first query.
          CHECK(count == doctest::Approx(by_hand.total).epsilon(window > 0 ? 0.02 : 1e-9));
        }
}

TEST_CASE("chunks of a prompt see as many blocks as the prompt at once") {
  for (const Form* f : rivals()) {
    if (f->name == "flash_attention_3") continue;  // counts the same, but splits some chunks
    CAPTURE(f->name);
    double chunks = 0;
    for (double at = 0; at < 8192; at += 512) chunks += counted(*f, call(1, 512, at + 512), 64, 64);
    CHECK(chunks == doctest::Approx(counted(*f, call(1, 8192, 8192), 64, 64)));
  }
}

TEST_CASE("sequences of differing length cost by the pairs that they see") {
  for (const Form* f : rivals()) {
    CAPTURE(f->name);
    PrefillAttention s = call(8, 1024, 1024);
    const double equal = counted(*f, s, 128, 64);
    s.pairs = 8 * causal_pairs(1024, 1024, 0);
    CHECK(counted(*f, s, 128, 64) == doctest::Approx(equal));
    s.pairs *= 1.5;
    CHECK(counted(*f, s, 128, 64) == doctest::Approx(1.5 * equal));
  }
}

TEST_CASE("a prefix is read from memory at no more than its peak") {
  for (const Fitted& f : fits())
    for (const PrefillAttention& s : shapes()) {
      if (s.window > 0) continue;
      const double bytes =
          s.batch * (s.kv_len - s.q_len) * 2 * s.n_kv_heads * s.head_dim * s.kv.weight_bytes;
      CAPTURE(f.form);
      CHECK(us(f, s) >= bytes / (f.device.bandwidth * 1e3));
    }
}

TEST_CASE("more sequences and tokens and longer prefixes take no less time") {
  for (const Fitted& f : fits()) {
    const double step =
        f.form == "flash_attention_3" ? 0.9 : 0.95;  // splits less in a larger batch
    for (const PrefillAttention& s : shapes()) {
      // Where a window's edge falls in a block depends on the prefix, not only on lengths.
      if (s.window > 0 && s.kv_len > s.q_len) continue;
      for (const double grow : {1.0, 1.1, 1.5, 3.0}) {
        CAPTURE(f.form);
        CAPTURE(s.batch);
        CAPTURE(s.q_len);
        CAPTURE(s.kv_len);
        CAPTURE(s.window);
        CAPTURE(grow);
        PrefillAttention more = s, longer = s, behind = s;
        more.batch = std::ceil(s.batch * grow) + 1;
        longer.q_len = std::ceil(s.q_len * grow) + 1;
        longer.kv_len += longer.q_len - s.q_len;
        behind.kv_len = std::ceil(s.kv_len * grow) + 1;
        CHECK(us(f, more) >= step * us(f, s));
        CHECK(us(f, longer) >= step * us(f, s));
        CHECK(us(f, behind) >= step * us(f, s));
      }
    }
  }
}

TEST_CASE("means of lengths lie between the whole numbers around them") {
  for (const Fitted& f : fits())
    for (const PrefillAttention& s : shapes()) {
      if (s.window > 0 && s.kv_len > s.q_len) continue;  // as above
      PrefillAttention between = s, above = s;
      between.batch += 0.5, above.batch += 1;
      between.q_len += 0.5, above.q_len += 1;
      between.kv_len += 0.5, above.kv_len += 1;
      const double low = us(f, s), mid = us(f, between), high = us(f, above);
      CAPTURE(f.form);
      CAPTURE(s.batch);
      CAPTURE(s.q_len);
      CAPTURE(s.kv_len);
      CHECK(mid >= 0.95 * std::min(low, high));
      CHECK(mid <= 1.05 * std::max(low, high));
    }
}

TEST_CASE("no prefill attention call allocates and all are finite at every head size") {
  for (const Form* f : rivals()) {
    std::vector<double> p;
    for (const Parameter& q : f->parameters) p.push_back(q.start);
    const auto before = kvsim::testing::allocations();
    double least = 1e9;
    for (const double d : {32.0, 64.0, 80.0, 128.0, 160.0, 256.0, 512.0})
      least = std::min(least, f->microseconds(call(2.5, 333.3, 777.7, 8, 8, d, 200),
                                              gpu(132, 50, 3352), p, Buffers::cold));
    const auto after = kvsim::testing::allocations();
    CHECK(before == after);
    CHECK(least > 1);
    CHECK(std::isfinite(least));
  }
}
