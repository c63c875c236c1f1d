#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cost/operators/form.h"
#include "support/allocations.h"

using namespace kvsim::cost;

namespace {

using Named = std::map<std::string, double, std::less<>>;

struct Fitted {
  std::string form, kv;
  Device device;
  Named p;
};

Device gpu(double sms, double l2_mb, double bandwidth) {
  Device d;
  d.sms = sms, d.l2_mb = l2_mb, d.bandwidth = bandwidth;
  return d;
}

// Parameters as they were fitted on five GPUs; the rest are the forms' starts.
const std::vector<Fitted>& fits() {
  static const std::vector<Fitted> all{
      {"flash_attention_3",
       "bf16",
       gpu(132, 50, 3352),
       {{"launch", 10.54},    {"launch_64", 0.9254},   {"sequences", 2.292}, {"wave", 1.955},
        {"row", 0.082},       {"tile", 1.366},         {"tile_64", 0.5263},  {"tile_192", 1.265},
        {"tile_256", 1.495},  {"windowed", 1.261},     {"edge", 0.5556},     {"edge_64", 3.948},
        {"streaming", 1},     {"ramp", 20.86},         {"l2_share", 0.7366}, {"merge", 1.359},
        {"merge_row", 0.004}, {"merge_split", 0.0524}, {"blend", 0.077},     {"unplanned", 0.311}}},
      {"trtllm_gen",
       "fp8",
       gpu(148, 126, 8000),
       {{"launch", 8.792},
        {"sequences", 0.029},
        {"wave", 0.519},
        {"row", 0.428},
        {"tile", 0.783},
        {"tile_64", 0.732},
        {"tile_256", 1.874},
        {"streaming", 1},
        {"ramp", 47.06},
        {"l2_share", 0.661},
        {"merge", 0.358},
        {"merge_row", 0.0573},
        {"merge_split", 0.137},
        {"blend", 0.0253}}},
      {"flashinfer",
       "fp8",
       gpu(142, 96, 864),
       {{"launch", 9.073},
        {"sequences", 0.422},
        {"wave", 2.748},
        {"tile", 1.403},
        {"tile_64", 0.522},
        {"tile_256", 2.384},
        {"streaming", 0.78},
        {"ramp", 0.289},
        {"l2_share", 0.95},
        {"merge", 0.83},
        {"merge_row", 0.0876},
        {"merge_split", 0.0099},
        {"blend", 0.0305},
        {"heads", 1.699},
        {"tall", 2.594},
        {"tall_start", 4.561}}},
      {"flash_attention_2",
       "bf16",
       gpu(108, 40, 2039),
       {{"launch", 9.391},
        {"sequences", 0.424},
        {"wave", 0.527},
        {"row", 0.3835},
        {"tile", 2.81},
        {"streaming", 1},
        {"ramp", 17.48},
        {"l2_share", 0.659},
        {"merge", 4.633},
        {"merge_row", 0.0239},
        {"merge_split", 0.173},
        {"blend", 0.11},
        {"alone", 0.977},
        {"copy", 5.969},
        {"copy_mb", 2.079}}},
      {"triton",
       "fp8",
       gpu(142, 96, 864),
       {{"launch", 6.64},
        {"sequences", 0.757},
        {"wave", 0.0125},
        {"row", 0.472},
        {"tile", 0.997}}}};
  return all;
}

const Form& form_of(const Fitted& f) {
  const Form* form = find_form("decode_attn", f.form);
  REQUIRE(form);
  return *form;
}
std::vector<double> values(const Fitted& f) {
  std::vector<double> out;
  for (const Parameter& q : form_of(f).parameters) {
    const auto at = f.p.find(q.name);
    out.push_back(at == f.p.end() ? q.start : at->second);
  }
  return out;
}
double us(const Fitted& f, const DecodeAttention& s, Buffers buffers = Buffers::cold) {
  return form_of(f).microseconds(s, f.device, values(f), buffers);
}

DecodeAttention call(const Fitted& f, double batch, double kv_len, double heads, double kv_heads,
                     double head_dim = 128, double window = 0) {
  DecodeAttention s;
  s.batch = batch, s.kv_len = kv_len, s.n_heads = heads, s.n_kv_heads = kv_heads;
  s.head_dim = head_dim, s.window = window;
  s.kv = *find_format(f.kv), s.compute = *find_format("bf16");
  return s;
}

// All shapes that the properties are checked on.
std::vector<DecodeAttention> shapes(const Fitted& f) {
  std::vector<DecodeAttention> out;
  for (const double batch : {1.0, 2.0, 7.0, 32.0, 100.0, 256.0, 900.0, 1500.0})
    for (const double kv : {2.0, 100.0, 129.0, 1000.0, 4096.0, 30000.0, 131072.0})
      for (const auto& [heads, kv_heads] :
           {std::pair{32.0, 8.0}, {8.0, 8.0}, {8.0, 1.0}, {40.0, 1.0}, {64.0, 4.0}})
        for (const double d : {64.0, 96.0, 128.0, 192.0, 256.0})
          for (const double window : {0.0, 128.0, 1024.0})
            out.push_back(call(f, batch, kv, heads, kv_heads, d, window));
  return out;
}

// FlashAttention 3 a second time: tiles are counted out and CTAs handed to the SMs one by one.
struct ByHand {
  const Fitted& f;
  const DecodeAttention& s;
  Named p;
  int ctas = 0, tiles = 0;

  ByHand(const Fitted& fit, const DecodeAttention& shape) : f(fit), s(shape) {
    const std::vector<double> v = values(f);
    for (std::size_t i = 0; i < v.size(); ++i) p[std::string(form_of(f).parameters[i].name)] = v[i];
    const int keys = s.head_dim <= 128 ? 128 : s.head_dim <= 192 ? 112 : 80;
    for (int token = 0; token < int(seen()); token += keys) ++tiles;
    for (int row = 0; row < group(); row += 64) ctas += int(s.batch * s.n_kv_heads);
  }
  bool cut() const { return s.window > 0 && s.kv_len > s.window; }
  double seen() const { return cut() ? s.window : s.kv_len; }
  int group() const { return int(s.n_heads / s.n_kv_heads * s.queries); }

  int planned_splits() const {
    int longest = 1;  // blocks of a part, a tenth more than an even share
    while (longest * f.device.sms < 1.1 * ctas * tiles - 1e-9) ++longest;
    int splits = 0;
    for (int at = 0; at < tiles && splits < 32; at += longest) ++splits;
    while (splits > 1 && ctas * splits > f.device.sms) --splits;  // one wave
    return splits;
  }
  double path(int splits) {
    int part = 0;
    while (part * splits < tiles) ++part;
    const double d64 = p["tile_64"];
    std::map<int, double> wide{
        {64, d64}, {96, (1 + d64) / 2}, {128, 1}, {192, p["tile_192"]}, {256, p["tile_256"]}};
    double one = p["tile"] * wide[int(s.head_dim)], more = 0;
    if (cut()) one *= p["windowed"], more = s.head_dim == 64 ? p["edge_64"] : p["edge"];
    std::vector<double> sm(std::size_t(f.device.sms), -p["wave"]);
    for (int c = 0; c < ctas * splits; ++c)
      sm[std::size_t(c) % sm.size()] +=
          p["wave"] + (part + more) * one + p["row"] * std::min(group(), 64) / 16;
    return std::ranges::max(sm);
  }
  double memory(Buffers buffers) {
    double mb = 0;
    for (int b = 0; b < int(s.batch); ++b)
      mb += s.head_dim * 1e-6 *
            (2 * s.n_kv_heads * seen() * s.kv.weight_bytes + 2 * 2 * s.n_heads * s.queries);
    const double ramp = 1 / (1 / mb + 1 / p["ramp"]);
    const double held = std::pow(p["l2_share"] * f.device.l2_mb / mb, 8);
    return 1e3 * (mb + ramp) / (p["streaming"] * f.device.bandwidth) /
           (buffers == Buffers::replayed ? 1 + held : 1);
  }
  double run(int splits, Buffers buffers) {
    const double x = path(splits), y = memory(buffers);
    double t = (x + y) / 2 + std::sqrt((x - y) * (x - y) / 4 + p["blend"] * x * y);
    if (splits > 1)
      t += p["merge"] + splits * p["merge_split"] +
           splits * p["merge_row"] * s.batch * s.n_heads * s.queries * s.head_dim / 128 /
               f.device.sms;
    return t;
  }
  double microseconds(Buffers buffers) {
    return p["launch"] * (s.head_dim == 64 ? p["launch_64"] : 1) +
           s.batch / 100 * p["sequences"] * (s.batch > 992 ? p["unplanned"] : 1) +
           std::min(run(planned_splits(), buffers), run(1, buffers));
  }
};

}  // namespace

TEST_CASE("planned splits and packed heads agree with CTAs that are handed out one by one") {
  const Fitted& f = fits()[0];
  int compared = 0;
  for (const DecodeAttention& s : shapes(f)) {
    if (s.batch * s.n_kv_heads > 2000) continue;
    CAPTURE(s.batch);
    CAPTURE(s.kv_len);
    CAPTURE(s.n_heads);
    CAPTURE(s.head_dim);
    CAPTURE(s.window);
    for (const Buffers buffers : {Buffers::cold, Buffers::replayed})
      CHECK(us(f, s, buffers) == doctest::Approx(ByHand(f, s).microseconds(buffers)).epsilon(1e-9));
    ++compared;
  }
  CHECK(compared > 1000);
}

TEST_CASE("several query tokens pack like a larger group of heads") {
  for (const Fitted& f : fits()) {
    CAPTURE(f.form);
    DecodeAttention verify = call(f, 16, 4096, 8, 2), wide = call(f, 16, 4096, 32, 2);
    verify.queries = 4;
    CHECK(us(f, verify) == doctest::Approx(us(f, wide)).epsilon(1e-12));
    CHECK(us(f, verify) > us(f, call(f, 16, 4096, 8, 2)));
    CHECK(us(f, verify) < 2 * us(f, call(f, 16, 4096, 8, 2)));
  }
}

TEST_CASE("cold calls take no less than replayed ones nor than their bytes at peak bandwidth") {
  for (const Fitted& f : fits())
    for (const DecodeAttention& s : shapes(f)) {
      CAPTURE(f.form);
      CAPTURE(s.batch);
      CAPTURE(s.kv_len);
      const double cold = us(f, s);
      const double seen = s.window > 0 ? std::min(s.window, s.kv_len) : s.kv_len;
      const double bytes = s.batch * s.n_kv_heads * seen * s.head_dim * 2 * s.kv.weight_bytes;
      CHECK(cold >= us(f, s, Buffers::replayed));
      CHECK(cold >= bytes / (f.device.bandwidth * 1e3));
    }
}

TEST_CASE("longer sequences and more of them take no less time but for a step of the splits") {
  for (const Fitted& f : fits()) {
    // These two split where that takes longer, too. When the batch grows they split less, and a
    // call of few sequences gets faster, as measured ones do.
    const bool jumps = f.form == "flash_attention_2" || f.form == "flashinfer";
    const double step = jumps ? 0.88 : 0.95;
    for (const DecodeAttention& s : shapes(f))
      for (const double grow : {1.0, 1.1, 1.5, 3.0}) {
        CAPTURE(f.form);
        CAPTURE(s.batch);
        CAPTURE(s.kv_len);
        CAPTURE(s.n_heads);
        CAPTURE(grow);
        CAPTURE(s.n_kv_heads);
        CAPTURE(s.head_dim);
        CAPTURE(s.window);
        DecodeAttention more = s, longer = s;
        more.batch = std::ceil(s.batch * grow) + 1;
        longer.kv_len = std::ceil(s.kv_len * grow) + 1;
        CHECK(us(f, more) >= step * us(f, s));
        CHECK(us(f, longer) >= 0.95 * us(f, s));
      }
  }
}

TEST_CASE("means lie within a tenth of what the whole numbers around them span") {
  for (const Fitted& f : fits())
    for (const DecodeAttention& s : shapes(f))
      for (double DecodeAttention::*field : {&DecodeAttention::batch, &DecodeAttention::kv_len}) {
        DecodeAttention between = s, above = s;
        between.*field += 0.5, above.*field += 1;
        const double low = us(f, s), mid = us(f, between), high = us(f, above);
        CAPTURE(f.form);
        CAPTURE(s.batch);
        CAPTURE(s.kv_len);
        CAPTURE(low);
        CAPTURE(high);
        CHECK(mid >= 0.9 * std::min(low, high));
        CHECK(mid <= 1.1 * std::max(low, high));
      }
}

TEST_CASE("no decode attention call allocates and all are finite at every head size") {
  for (const Fitted& f : fits()) {
    const std::vector<double> p = values(f);
    const auto before = kvsim::testing::allocations();
    double least = 1e9;
    for (const double d : {32.0, 64.0, 80.0, 128.0, 160.0, 256.0, 512.0})
      least = std::min(
          least, form_of(f).microseconds(call(f, 3.5, 777.7, 8, 8, d), f.device, p, Buffers::cold));
    const auto after = kvsim::testing::allocations();
    CHECK(before == after);
    CHECK(least > 1);
    CHECK(std::isfinite(least));
  }
}

TEST_CASE("a wider head takes longer and one between measured widths lies between them") {
  for (const Fitted& f : fits()) {
    CAPTURE(f.form);
    const double narrow = us(f, call(f, 64, 8192, 8, 8, 128)),
                 mid = us(f, call(f, 64, 8192, 8, 8, 192)),
                 wide = us(f, call(f, 64, 8192, 8, 8, 256)),
                 widest = us(f, call(f, 64, 8192, 8, 8, 512));
    CHECK(narrow < mid);
    CHECK(mid < wide);
    CHECK(wide < widest);
  }
}
