#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cost/operators/form.h"
#include "cost/operators/gemm_tiles.h"
#include "support/allocations.h"

using namespace kvsim::cost;

namespace {

Device h100() {
  Device d;
  d.sms = 132, d.l2_mb = 50, d.bandwidth = 3352, d.bf16 = 989, d.fp8 = 1979;
  return d;
}

Gemm product(double m, double n, double k, std::string_view dtype = "bf16") {
  return {m, n, k, *find_format(dtype)};
}

std::vector<double> starts(const Form& f) {
  std::vector<double> out;
  for (const Parameter& p : f.parameters) out.push_back(p.start);
  return out;
}

std::vector<const Form*> forms_for(const Gemm& s) {
  std::vector<const Form*> out;
  for (const Form& f : gemm_forms())
    if (f.kernel == "gemm" && f.applies(s)) out.push_back(&f);
  return out;
}

const std::vector<std::string> dtypes{"bf16", "fp8", "fp8_block", "nvfp4"};

// The equations a second time: every tile and every split in plain loops.
struct Naive {
  const Gemm& s;
  const Device& d;
  std::map<std::string, double> p;

  double chain(double tm, double tn, double splits) {
    const double b = s.format.weight_bytes, tera = 2 * s.m * s.n * s.k / 1e12;
    const double flops_per_us = p["F"] * 1e6 * (1 - p["pt"] * tera / (tera + p["flh"])) / d.sms;
    const double step =
        std::max(p["ts"], 2 * tm * tn * 128 / b / flops_per_us + (tm + tn) * 128 / (1e3 * p["bs"]));
    const double steps = std::ceil(std::ceil(s.k * b / 128) / splits);
    const double work = std::ceil(s.m / tm) * std::ceil(s.n / tn) * splits / d.sms;
    const double waves = std::max(1.0, work + p["qz"] * (std::ceil(work) - work));
    const double merge = splits > 1 ? p["tsk"] + splits * s.m * s.n * 4 / (1e3 * p["bsk"]) : 0;
    return waves * (steps * step + p["tcta"] + tm * tn * 2 / (1e3 * p["be"])) + merge;
  }
  double memory(Buffers buffers) {
    const double w = s.n * s.k * s.format.weight_bytes / 1e6;
    const double a = (s.m * s.k * s.format.activation_bytes + s.m * s.n * 2) / 1e6;
    double from_w = 1, from_a = 1;
    if (buffers == Buffers::replayed) {
      const double copies = std::min(6.0, std::ceil(d.l2_mb * 1.048576 / w));
      from_w = 1 / (1 + std::pow(p["cl2"] * d.l2_mb / (w * copies), p["ql2"]));
      from_a = 1 / (1 + std::pow(p["cla"] * d.l2_mb / (w + a), 4));
    }
    return (w * from_w + a * from_a) / p["bw"] * 1e3 + p["tmem"];
  }
  double total(double least, Buffers buffers) {
    const double power = p["pn"];
    const double both =
        std::pow(std::pow(least, power) + std::pow(memory(buffers), power), 1 / power);
    const bool odd = buffers == Buffers::replayed && s.m > 128 && static_cast<long>(s.m) % 2 == 1;
    double t = p["t0"] + both * (odd ? p["odd"] : 1) *
                             (buffers == Buffers::replayed && s.m == 1 ? p["m1"] : 1);
    if (!s.format.quantises_activations) return t;
    return t + quantisation(odd, buffers);
  }
  double quantisation(bool odd, Buffers buffers) {
    const double mb = s.m * s.k * 3 / 1e6;
    const double cold = 1 / (1 + std::pow(p["clq"] * d.l2_mb / mb, 6));
    const double moved = 1e3 * mb * (cold / p["bq"] + (1 - cold) / p["bqh"]);
    if (p.count("tg")) {
      const long groups = static_cast<long>(s.m) * static_cast<long>(std::ceil(s.k / 128));
      long together = 16;
      while (buffers == Buffers::replayed && groups % together) together /= 2;
      return moved + p["tg"] * static_cast<double>(groups) / static_cast<double>(together) / 1e3;
    }
    const double rounds = std::max(1.0, s.m / d.sms / p["occ"]);
    return std::max(moved, rounds * (p["tr"] + p["rk"] * s.k / 1e3)) * (odd ? p["oddq"] : 1);
  }
};

Naive naive(const Form& f, const Gemm& s, const Device& d, const std::vector<double>& values) {
  Naive out{s, d, {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    out.p[std::string(f.parameters[i].name)] = values[i];
  return out;
}

}  // namespace

TEST_CASE("a product of bfloat16 takes the fastest tile and split of all that are tried") {
  const Device d = h100();
  const Form* f = find_form("gemm", "best_tile_split");
  REQUIRE(f);
  std::vector<double> p = starts(*f);
  for (const double flops : {400.0, 989.0, 3000.0}) {
    p[1] = flops;
    for (const double m : {1.0, 3.0, 64.0, 200.0, 513.0, 4096.0})
      for (const double n : {128.0, 2560.0, 51200.0})
        for (const double k : {96.0, 4096.0, 16384.0})
          for (const Buffers buffers : {Buffers::cold, Buffers::replayed}) {
            const Gemm s = product(m, n, k);
            Naive other = naive(*f, s, d, p);
            double least = 1e300;
            for (const double tm : {64.0, 128.0, 256.0})
              for (const double tn : {64.0, 128.0, 256.0}) {
                if (tm == 256 && tn != 128) continue;
                for (double splits = 1; splits <= 16; splits *= 2)
                  least = std::min(least, other.chain(tm, tn, splits));
              }
            CHECK(f->microseconds(s, d, p, buffers) ==
                  doctest::Approx(other.total(least, buffers)).epsilon(1e-9));
          }
  }
}

TEST_CASE("a quantised product adds the kernel that quantises its input") {
  const Device d = h100();
  const Form* f = find_form("gemm", "tile_128x128");
  REQUIRE(f);
  const std::vector<double> p = starts(*f);
  for (const char* dtype : {"fp8", "fp8_block", "nvfp4"})
    for (const double m : {1.0, 16.0, 255.0, 8192.0})
      for (const double k : {512.0, 8192.0})
        for (const Buffers buffers : {Buffers::cold, Buffers::replayed}) {
          const Gemm s = product(m, 6144, k, dtype);
          Naive other = naive(*f, s, d, p);
          CHECK(f->microseconds(s, d, p, buffers) ==
                doctest::Approx(other.total(other.chain(128, 128, 1), buffers)).epsilon(1e-9));
        }
}

TEST_CASE("blocks of scales are quantised by CTAs of as many groups as divide them") {
  const Device d = h100();
  const Form* f = find_form("gemm", "deepgemm_blackwell");
  REQUIRE(f);
  const std::vector<double> p = starts(*f);
  for (const double m : {1.0, 3.0, 64.0, 4097.0})
    for (const double k : {512.0, 768.0, 3584.0})
      for (const Buffers buffers : {Buffers::cold, Buffers::replayed}) {
        const Gemm s = product(m, 6144, k, "fp8_block");
        const Tile t = deepgemm_blackwell(s, d);
        Naive other = naive(*f, s, d, p);
        // The chain of a tile that CTAs share loads less: its shape is equal, its operands are not.
        const double unshared = other.chain(t.m, t.n, 1);
        const double steps = std::ceil(k * s.format.weight_bytes / 128);
        const double saved = (t.m + t.n - t.loaded) * 128 / (1e3 * other.p["bs"]) * steps;
        const double work = std::ceil(m / t.m) * std::ceil(6144 / t.n) / d.sms;
        const double waves = std::max(1.0, work + other.p["qz"] * (std::ceil(work) - work));
        CHECK(f->microseconds(s, d, p, buffers) ==
              doctest::Approx(other.total(unshared - waves * saved, buffers)).epsilon(1e-9));
      }
  const auto us = [&](double m, double k, Buffers b) {
    return f->microseconds(product(m, 256, k, "fp8_block"), d, p, b);
  };
  CHECK(us(4097, 3584, Buffers::replayed) > 1.2 * us(4096, 3584, Buffers::replayed));
  CHECK(us(4097, 2048, Buffers::replayed) < 1.1 * us(4096, 2048, Buffers::replayed));
  CHECK(us(4097, 3584, Buffers::cold) < 1.01 * us(4096, 3584, Buffers::cold) + 1);
}

TEST_CASE("products are never faster than their bytes from memory when cold") {
  const Device d = h100();
  for (const std::string& dtype : dtypes)
    for (const double m : {1.0, 16.0, 128.0, 2048.0, 65536.0})
      for (const double n : {256.0, 4096.0, 28672.0}) {
        const Gemm s = product(m, n, 4096, dtype);
        const double bytes =
            n * 4096 * s.format.weight_bytes + m * 4096 * s.format.activation_bytes + 2 * m * n;
        for (const Form* f : forms_for(s)) {
          for (const double fitted : {2000.0, 9000.0}) {  // GB/s, below and above the datasheet
            std::vector<double> p = starts(*f);
            for (std::size_t i = 0; i < p.size(); ++i)
              if (f->parameters[i].name == "bw") p[i] = fitted;
            CHECK(f->microseconds(s, d, p, Buffers::cold) >= bytes / (1e3 * d.bandwidth));
          }
          Gemm even = s;
          even.m = std::max(2.0, m);  // a benchmark's m = 1 has a kernel of its own
          CHECK(f->microseconds(even, d, starts(*f), Buffers::cold) >=
                f->microseconds(even, d, starts(*f), Buffers::replayed) * (1 - 1e-12));
        }
      }
}

TEST_CASE("times of products are finite and hardly ever fall as rows are added") {
  const Device d = h100();
  for (const std::string& dtype : dtypes)
    for (const Form* f : forms_for(product(1, 8192, 8192, dtype))) {
      // Rules of libraries may give a larger batch a better tile; the fastest of a list does not.
      const bool rule = f->name.find("best") == std::string_view::npos;
      double highest = 0, last = 0;
      for (double m = 1; m <= 1e6; m = std::max(m + 1, std::floor(m * 1.07))) {
        const double t =
            f->microseconds(product(m, 8192, 8192, dtype), d, starts(*f), Buffers::cold);
        CHECK(std::isfinite(t));
        CHECK(t > 0);
        if (!rule) CHECK(t >= 0.95 * highest);
        highest = std::max(highest, t), last = t;
      }
      CHECK(last >= 0.95 * highest);
    }
}

TEST_CASE("odd rows and single rows cost a step no more than even ones") {
  const Device d = h100();
  for (const Form* f : forms_for(product(1, 4096, 4096, "fp8"))) {
    std::vector<double> p = starts(*f);
    for (std::size_t i = 0; i < p.size(); ++i)
      if (f->parameters[i].name == "odd" || f->parameters[i].name == "m1") p[i] = 2;
    const auto us = [&](double m, Buffers b) {
      return f->microseconds(product(m, 4096, 4096, "fp8"), d, p, b);
    };
    CHECK(us(1, Buffers::cold) <= us(2, Buffers::cold));
    CHECK(us(255, Buffers::cold) <= us(256, Buffers::cold));
    CHECK(us(255, Buffers::replayed) > 1.5 * us(256, Buffers::replayed));
    CHECK(us(1, Buffers::replayed) > 1.2 * us(2, Buffers::replayed));
  }
}

TEST_CASE("kernels of one generation of GPUs are not offered to another") {
  Device hopper = h100(), blackwell = h100(), ada = h100(), rtx = h100();
  blackwell.bandwidth = 8000, blackwell.fp8 = 4500, blackwell.fp4 = 9000;
  ada.bandwidth = 864, ada.fp8 = 733;
  rtx.bandwidth = 1597, rtx.fp8 = 1000, rtx.fp4 = 2000;
  const auto on = [&](std::string_view name) {
    const Form* f = find_form("gemm", name);
    REQUIRE(f);
    std::string out;
    if (!f->runs_on || f->runs_on(hopper)) out += "h";
    if (!f->runs_on || f->runs_on(blackwell)) out += "b";
    if (!f->runs_on || f->runs_on(ada)) out += "a";
    if (!f->runs_on || f->runs_on(rtx)) out += "r";
    return out;
  };
  CHECK(on("best_tile") == "hbar");
  CHECK(on("best_tile_split") == "hbar");
  CHECK(on("best_small_tile_split") == "hb");
  CHECK(on("deepgemm_hopper") == "h");
  CHECK(on("deepgemm_blackwell") == "b");
  CHECK(on("cutlass_ada") == "a");
  CHECK(on("cutlass_rtx_fp4") == "r");
  CHECK(on("tile_32x128") == "ar");
}

TEST_CASE("evaluating a product allocates nothing and forms have names of their own") {
  const Device d = h100();
  std::set<std::string> seen;
  for (const Form& f : gemm_forms()) {
    CHECK(seen.insert(std::string(f.kernel) + "/" + std::string(f.name)).second);
    CHECK(f.feature_names.size() <= max_features);
    CHECK_FALSE(f.summary.empty());
  }
  for (const std::string& dtype : dtypes) {
    const Shape s = product(96, 6144, 4096, dtype);
    CHECK(forms_for(std::get<Gemm>(s)).size() >= 2);
    for (const Form* f : forms_for(std::get<Gemm>(s))) {
      const std::vector<double> p = starts(*f);
      const std::size_t before = kvsim::testing::allocations();
      const double sum = f->microseconds(s, d, p, Buffers::cold) + f->features(s)[0];
      const std::size_t after = kvsim::testing::allocations();
      CHECK(after == before);
      CHECK(sum > 0);
    }
  }
}
