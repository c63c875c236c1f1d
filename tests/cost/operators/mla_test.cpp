#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "cost/operators/form.h"
#include "spec/catalog.h"
#include "support/allocations.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

const Device& h100() {
  static const Device d = device_of(spec::Catalog().gpu("h100-sxm"));
  return d;
}

std::vector<double> starts(const Form& f) {
  std::vector<double> out;
  for (const Parameter& p : f.parameters) out.push_back(p.start);
  return out;
}

Mla decode(double batch, double kv_len, double heads) {
  Mla s;
  s.batch = batch, s.kv_len = kv_len, s.n_heads = heads;
  return s;
}
Mla prefill(double batch, double q_len, double prefix, double heads) {
  Mla s;
  s.decode = false;
  s.batch = batch, s.q_len = q_len, s.kv_len = prefix + q_len, s.n_heads = heads;
  return s;
}

double norm(std::vector<double> xs, double p) {
  double sum = 0;
  for (const double x : xs) sum += std::pow(x, p);
  return std::pow(sum, 1 / p);
}

// Decode once more, with tiles and waves counted by hand.
double decode_by_hand(const Mla& s, const Device& d, const std::vector<double>& p, int heads,
                      int keys) {
  int head_tiles = 0, blocks = 0;
  for (double h = 0; h < s.n_heads; h += heads) ++head_tiles;
  for (double k = 0; k < s.kv_len; k += keys) ++blocks;
  const double held = std::min<double>(heads, s.n_heads);
  const double mb = s.batch * s.kv_len * 576 * s.kv.weight_bytes / 1e6;
  const auto core = [&](double batch, double splits) {
    double rounds = 0, longest = 0;
    for (double left = batch * head_tiles * splits; left > 1e-9; left -= d.sms) ++rounds;
    while (longest * splits < blocks) ++longest;
    const double tile = p[5] * keys / 64 * (1 + p[6] * held / 64) * (s.n_heads > 64 ? p[17] : 1);
    const double path = (rounds - 1) * p[3] * (1 + p[4] * held / 64) + rounds * longest * tile;
    const double share = batch / s.batch;
    const double read = share * (mb + p[8] * mb / (p[8] + mb)) * 1e3 / (p[7] * d.bandwidth);
    const double flops = 2 * batch * s.kv_len * std::max(s.n_heads, p[11]) * 1088;
    return norm({path, read, flops / (p[12] * 1e6)}, p[16]);
  };
  const auto merge = [&](double batch) {
    const double parts = std::min({double(blocks), p[13], d.sms / (batch * head_tiles)});
    return p[14] + p[15] * batch * s.n_heads * parts / (1000 * d.sms);
  };
  double splits = 1;
  while (splits + 1 <= std::min<double>(blocks, p[13]) &&
         (splits + 1) * s.batch * head_tiles <= d.sms)
    ++splits;
  double t = core(s.batch, splits);
  const double last = d.sms / (2 * head_tiles);
  if (splits > 1)
    t += merge(s.batch);
  else if (blocks > 1 && last < s.batch)
    t = std::max(t, core(last, 2) + merge(last));
  return p[0] + p[1] * s.batch / 100 + p[2] * s.batch * s.n_heads / 1e4 + t;
}

// Prefill once more, tile by tile.
double prefill_by_hand(const Mla& s, const Device& d, const std::vector<double>& p, int queries) {
  double tiles = 0, blocks = 0, longest = 0;
  for (double q = 0; q < s.q_len; q += queries) {
    const double visible = s.kv_len - s.q_len + std::min(q + queries, s.q_len);
    longest = std::ceil(visible / 64);
    ++tiles, blocks += longest;
  }
  const double block = p[2] * queries / 128;
  const double through = s.batch * s.n_heads * (tiles * p[3] + blocks * block) / d.sms;
  const double bytes = 2 * s.batch * s.n_heads * (s.q_len + s.kv_len) * 320;
  return p[0] + p[1] * s.batch / 100 + norm({through, p[4] * (p[3] + longest * block)}, p[5]) +
         bytes / (1e3 * p[6] * d.bandwidth);
}

}  // namespace

TEST_CASE("Absorbed decode agrees with tiles and waves counted by hand") {
  for (const auto& [name, heads, keys] : {std::tuple<const char*, int, int>{"split_64x64", 64, 64},
                                          {"split_64x128", 64, 128},
                                          {"split_128x128", 128, 128}}) {
    const Form& f = *find_form("mla", name);
    std::vector<double> p = starts(f);
    p[17] = 0.7;  // another kernel for wide tiles
    for (const double batch : {1.0, 7.0, 33.0, 65.5, 70.0, 400.0})
      for (const double kv : {1.0, 64.0, 65.0, 1000.0, 20000.0})
        for (const double n : {1.0, 16.0, 65.0, 128.0}) {
          const Mla s = decode(batch, kv, n);
          CAPTURE(batch);
          CAPTURE(kv);
          CAPTURE(n);
          CHECK(f.microseconds(s, h100(), p, Buffers::cold) ==
                doctest::Approx(decode_by_hand(s, h100(), p, heads, keys)));
        }
  }
}

TEST_CASE("Materialised prefill agrees with blocks counted tile by tile") {
  for (const auto& [name, queries] : {std::pair{"causal_128x64", 128}, {"causal_64x64", 64}}) {
    const Form& f = *find_form("mla", name);
    const std::vector<double> p = starts(f);
    for (const double batch : {1.0, 3.5})
      for (const double q : {1.0, 127.0, 128.0, 129.0, 5000.0})
        for (const double prefix : {0.0, 1.0, 640.0, 4097.0})
          for (const double n : {1.0, 128.0}) {
            const Mla s = prefill(batch, q, prefix, n);
            CAPTURE(batch);
            CAPTURE(q);
            CAPTURE(prefix);
            CHECK(f.microseconds(s, h100(), p, Buffers::cold) ==
                  doctest::Approx(prefill_by_hand(s, h100(), p, queries)));
          }
  }
}

TEST_CASE("The block of latent attention is its core and what the projections move and compute") {
  MlaModule m;
  m.core = decode(8, 2000, 16);
  m.projections = *find_format("fp8_block");
  const Form& whole = *find_form("mla_module", "split_64x128");
  const Form& core = *find_form("mla", "split_64x128");
  const std::vector<double> p = starts(whole);
  const double own =
      core.microseconds(m.core, h100(), std::span(p).first(core.parameters.size()), Buffers::cold);
  const double* q = p.data() + core.parameters.size();
  const double weights = 7168.0 * 2112 + 1536 * 192 * 16 + 7168 * 128 * 16, up = 16 * 128 * 1024;
  const double bytes = weights * m.projections.weight_bytes + 2 * up;
  const double products =
      norm({bytes / (1e3 * q[0] * h100().bandwidth), 2 * 8 * (weights + up) / (1e6 * q[1])}, q[2]);
  const double moved = 8 * 4.0 * (7168 + 2112 + 320 * 16) * q[3] / (1e3 * h100().bandwidth);
  CHECK(whole.microseconds(m, h100(), p, Buffers::cold) == doctest::Approx(own + products + moved));
}

TEST_CASE("Cold latent attention is no faster than replayed and than its bytes at the peak") {
  for (const Form& f : forms()) {
    if (f.kernel != "mla" || f.name == baseline_form) continue;
    const std::vector<double> p = starts(f);
    for (const double batch : {1.0, 16.0, 250.0})
      for (const double length : {1.0, 300.0, 8000.0})
        for (const double heads : {1.0, 16.0, 128.0}) {
          const Mla s = f.applies(decode(1, 1, 1)) ? decode(batch, length, heads)
                                                   : prefill(batch, length, 0, heads);
          const double cold = f.microseconds(s, h100(), p, Buffers::cold);
          CHECK(cold >= f.microseconds(s, h100(), p, Buffers::replayed));
          const double bytes =
              s.decode ? batch * length * 576 * 2 : 4 * batch * length * heads * 320;
          CHECK(cold >= bytes / (1e3 * h100().bandwidth));
        }
  }
}

TEST_CASE("Latent attention does not get faster with more sequences or longer ones") {
  for (const Form& f : forms()) {
    if (f.kernel != "mla" || f.name == baseline_form) continue;
    const std::vector<double> p = starts(f);
    const bool decodes = f.applies(decode(1, 1, 1));
    const auto never_falls = [&](auto shape) {
      double highest = 0;
      for (double x = 1; x < 60000; x *= 1.03) {
        const double t = f.microseconds(shape(x), h100(), p, Buffers::cold);
        CHECK(t >= 0.95 * highest);
        highest = std::max(highest, t);
      }
    };
    for (const double heads : {8.0, 128.0})
      for (const double other : {1.0, 40.0, 700.0}) {
        never_falls([&](double x) {
          return decodes ? decode(std::min(x, 2000.0), other, heads)
                         : prefill(std::min(x, 2000.0), other, 0, heads);
        });
        never_falls([&](double x) {
          return decodes ? decode(other, x, heads) : prefill(other, x, 0, heads);
        });
      }
  }
}

TEST_CASE("Prefill of sequences that differ in length costs what their pairs ask for") {
  const Form& f = *find_form("mla", "causal_128x64");
  std::vector<double> p = starts(f);
  p[4] = 0.02;  // no longest tile, so that only the throughput is left
  const Mla equal = prefill(4, 4096, 0, 128);
  Mla uneven = equal;
  uneven.pairs = 1.5 * 4 * causal_pairs(4096, 4096, 0);
  Mla same = equal;
  same.pairs = 4 * causal_pairs(4096, 4096, 0);
  const auto us = [&](const Mla& s) { return f.microseconds(s, h100(), p, Buffers::cold); };
  Mla none = equal;
  none.pairs = 1e-9;
  CHECK(us(same) == doctest::Approx(us(equal)));
  CHECK(us(uneven) - us(none) == doctest::Approx(1.5 * (us(equal) - us(none))).epsilon(0.01));
}

TEST_CASE("A product per head agrees with tiles and steps counted by hand") {
  const Form& f = *find_form("mla_bmm", "heads_128");
  const std::vector<double> p = starts(f);
  const auto at = [&](std::string_view name) {
    for (std::size_t i = 0; i < p.size(); ++i)
      if (f.parameters[i].name == name) return p[i];
    FAIL("no parameter ", name);
    return 0.0;
  };
  for (const char* dtype : {"bf16", "fp8"})
    for (const bool pre : {true, false})
      for (const double tokens : {1.0, 129.0, 5000.0}) {
        MlaBmm s;
        s.pre = pre, s.tokens = tokens, s.n_heads = 32, s.format = *find_format(dtype);
        const double n = pre ? 512 : 128, k = pre ? 128 : 512, b = s.format.weight_bytes;
        double tiles = 0, steps = 0;
        for (double head = 0; head < 32; ++head)
          for (double row = 0; row < tokens; row += 128)
            for (double column = 0; column < n; column += 128) ++tiles;
        for (double byte = 0; byte < k * b; byte += 128) ++steps;
        const double step = 2 * 128 * 128 * (128 / b) / (at("rate") * 1e6 / h100().sms) +
                            256 * 128 / (1e3 * at("shared"));
        const double share = tiles / h100().sms, whole = at("whole_waves");
        const double compute = std::max(1.0, (1 - whole) * share + whole * std::ceil(share)) *
                               (steps * step + at("launch"));
        const double bytes = 32 * (n * k * b + tokens * (k * b + 2 * n));
        const double memory = bytes / (1e3 * at("bandwidth_share") * h100().bandwidth);
        double expected = at("floor") + norm({compute, memory}, at("power"));
        if (b == 1)
          expected += at("quantise") + at("quantise_tokens") * tokens / 1000 +
                      tokens * 32 * k * 3 / (1e3 * at("quantise_share") * h100().bandwidth);
        CAPTURE(dtype);
        CAPTURE(tokens);
        CHECK(f.microseconds(s, h100(), p, Buffers::cold) == doctest::Approx(expected));
      }
}

TEST_CASE("A product per head is bound by its bytes where they are many") {
  for (const Form& f : forms()) {
    if (f.kernel != "mla_bmm" || f.name == baseline_form) continue;
    const std::vector<double> p = starts(f);
    MlaBmm s;
    double highest = 0;
    for (double tokens = 1; tokens < 20000; tokens *= 1.1) {
      s.tokens = tokens, s.n_heads = 128;
      const double cold = f.microseconds(s, h100(), p, Buffers::cold);
      const double bytes = 2 * 128 * (512.0 * 128 + tokens * (512 + 128));
      CHECK(cold >= bytes / (1e3 * h100().bandwidth));
      CHECK(cold >= f.microseconds(s, h100(), p, Buffers::replayed));
      CHECK(cold >= 0.95 * highest);
      highest = std::max(highest, cold);
    }
  }
}

TEST_CASE("Forms of latent attention allocate nothing") {
  MlaModule m;
  m.core = decode(20, 3000, 16);
  MlaBmm b;
  b.tokens = 20, b.n_heads = 16;
  for (const Form& f : forms()) {
    const Shape shape = f.kernel == "mla"          ? Shape(m.core)
                        : f.kernel == "mla_module" ? Shape(m)
                                                   : Shape(b);
    if (!f.kernel.starts_with("mla") || (f.applies && !f.applies(shape))) continue;
    const std::vector<double> p = starts(f);
    const Device& d = h100();
    const std::size_t before = testing::allocations();
    const double t = f.microseconds(shape, d, p, Buffers::cold) + f.features(shape)[0];
    CHECK(testing::allocations() == before);
    CHECK(t > 0);
  }
}
