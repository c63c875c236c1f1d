#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kernels/decode/decode.h"
#include "kernels/decode/decode_plan.h"
#include "kernels/host/array.h"
#include "kernels/mla/mla.h"
#include "kernels/mla/plan.h"
#include "kernels/prefill/prefill.h"

using namespace kvsim::kernels;

namespace {

// Three sequences of 70 tokens without pages, queries of ones. Keys are -inf for the first
// `hidden` tokens, zeros after them; values are 1 and, from `hidden` on, 3: a row must be 3
// throughout with a log-sum-exp of log(70 - hidden), or zeros with -inf where nothing is left.
constexpr int tokens = 70, dim = 128, sequences = 3;
constexpr int hidden[sequences] = {tokens, 67, 0};

const Bf16 one = to_bf16(1.0F), three = to_bf16(3.0F), zero = to_bf16(0.0F);
const Bf16 below_all = to_bf16(-std::numeric_limits<float>::infinity());

template <class Element>
std::vector<Bf16> rows_of(int width, const Element& element) {
  std::vector<Bf16> out;
  for (int b = 0; b < sequences; ++b)
    for (int t = 0; t < tokens; ++t)
      for (int d = 0; d < width; ++d) out.push_back(element(t < hidden[b], d));
  return out;
}

std::vector<Bf16> ones(int count) {
  return std::vector<Bf16>(static_cast<std::size_t>(count), one);
}

void check_rows(const std::vector<Bf16>& out, int rows, int width) {
  for (int b = 0; b < sequences; ++b)
    for (int i = 0; i < rows * width; ++i) {
      const float got = to_float(out[static_cast<std::size_t>(b * rows * width + i)]);
      const float want = hidden[b] == tokens ? 0.0F : 3.0F;
      if (!(std::abs(got - want) <= 0.02F)) {
        CAPTURE(b);
        CAPTURE(i);
        CHECK(got == want);
        return;
      }
    }
}

void check_lse(const std::vector<float>& lse, int rows) {
  for (int b = 0; b < sequences; ++b)
    for (int r = 0; r < rows; ++r) {
      const auto got = static_cast<double>(lse[static_cast<std::size_t>(b * rows + r)]);
      if (hidden[b] == tokens)
        CHECK(got == -INFINITY);
      else
        CHECK(got == doctest::Approx(std::log(tokens - hidden[b])).epsilon(1e-5));
    }
}

// Keys and values of one kv head, contiguous.
struct Cache {
  explicit Cache(Device& device)
      : keys(device, rows_of(dim, [](bool h, int) { return h ? below_all : zero; })),
        values(device, rows_of(dim, [](bool h, int) { return h ? one : three; })),
        lens(device, std::vector<std::int32_t>(sequences, tokens)) {}
  PagedKv view() const {
    PagedKv out;
    out.keys = keys.view(), out.values = values.view(), out.lens = lens.view();
    out.max_pages = 1, out.page_tokens = tokens, out.kv_heads = 1, out.head_dim = dim;
    return out;
  }
  Array<Bf16> keys, values;
  Array<std::int32_t> lens;
};

}  // namespace

TEST_CASE("decode over scores of minus infinity gives them no weight and empty rows are zeros") {
  const auto device = make_cpu_device({});
  constexpr int heads = 4, splits = 2, rows = sequences * heads;
  const Cache cache(*device);
  const DecodePlan plan = plan_decode(std::vector<int>(sequences, tokens), 1, 0, 4, 1);
  const Array<DecodeSegment> segments(*device, plan.segments);
  const Array<std::int32_t> run_first(*device, plan.run_first);
  const Array<std::int32_t> partial_first(*device, plan.partial_first);
  const Array<Bf16> q(*device, ones(rows * dim));
  Array<Bf16> out(*device, rows * dim);
  Array<float> lse(*device, rows), o(*device, 8 * rows * dim), m(*device, 8 * rows),
      l(*device, 8 * rows);
  Array<std::uint32_t> counters(*device, sequences);
  counters.fill_bytes(0);
  DecodeArgs args;
  args.q = q.view(), args.kv = cache.view(), args.scale = 0.1F;
  args.merge.partials = {o.view(), m.view(), l.view()};
  args.merge.splits = splits, args.merge.groups = sequences, args.merge.heads_per_group = heads;
  args.merge.value_dim = dim, args.merge.out = out.view(), args.merge.lse = lse.view();
  args.counters = counters.view();
  args.plan = {segments.view(), run_first.view(), partial_first.view(), plan.runs(),
               plan.partials()};
  for (const auto& variant : cpu::decode_variants()) {
    if (variant.supports != nullptr && !variant.supports(args)) continue;
    const std::string name = variant.name;
    CAPTURE(name);
    out.fill_bytes(0xff), lse.fill_bytes(0xff);
    variant.launch(args, device->stream());
    device->synchronize();
    check_rows(out.download(), heads, dim);
    check_lse(lse.download(), heads);
  }
}

TEST_CASE("prefill over scores of minus infinity gives them no weight and empty rows are zeros") {
  const auto device = make_cpu_device({});
  constexpr int queries = 5, heads = 2, rows = queries * heads;
  const Cache cache(*device);
  const Array<std::int32_t> q_start(*device, std::vector<std::int32_t>{0, 5, 10, 15});
  const Array<Bf16> q(*device, ones(sequences * rows * dim));
  Array<Bf16> out(*device, sequences * rows * dim);
  Array<float> lse(*device, sequences * rows);
  PrefillArgs args;
  args.q = q.view(), args.kv = cache.view(), args.q_start = q_start.view();
  args.out = out.view(), args.lse = lse.view();
  args.sequences = sequences, args.q_heads = heads, args.max_q_len = queries;
  args.mask = Mask::none, args.scale = 0.1F;
  for (const auto& variant : cpu::prefill_variants()) {
    if (variant.supports != nullptr && !variant.supports(args)) continue;
    const std::string name = variant.name;
    CAPTURE(name);
    out.fill_bytes(0xff), lse.fill_bytes(0xff);
    variant.launch(args, device->stream());
    device->synchronize();
    check_rows(out.download(), rows, dim);
    check_lse(lse.download(), rows);
  }
}

// The latents are the values, so the rope part alone says what is hidden; q sees nothing else.
TEST_CASE("MLA over scores of minus infinity gives them no weight and empty rows are zeros") {
  const auto device = make_cpu_device({});
  constexpr int heads = 16;
  const Array<Bf16> cache(*device, rows_of(mla_row, [](bool h, int d) {
    return d < mla_latent ? (h ? one : three) : (h ? below_all : zero);
  }));
  std::vector<std::int32_t> pages(sequences * tokens);
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = static_cast<std::int32_t>(i);
  const std::vector<std::int32_t> lens(sequences, tokens);
  const Array<std::int32_t> table(*device, pages), device_lens(*device, lens);
  const LatentCache view{cache.view(), table.view(), device_lens.view(), tokens, 0};

  std::vector<Bf16> queries;
  for (int i = 0; i < sequences * heads * mla_row; ++i)
    queries.push_back(i % mla_row < mla_latent ? zero : one);
  const Array<Bf16> q(*device, queries);
  Array<Bf16> out(*device, sequences * heads * mla_latent);
  const MlaPlan plan = plan_mla(lens, 4, 1);
  const Array<MlaPart> parts(*device, plan.parts);
  const Array<std::int32_t> run_first(*device, plan.run_first), slots(*device, plan.slot_first);
  const auto partials = static_cast<std::size_t>(plan.slots() * heads);
  const Array<float> o(*device, partials * mla_latent), m(*device, partials), l(*device, partials);
  MlaArgs args;
  args.q = q.view(), args.cache = view, args.out = out.view(), args.parts = parts.view();
  args.run_first = run_first.view(), args.slot_first = slots.view();
  args.partials = {o.view(), m.view(), l.view()};
  args.batch = sequences, args.heads = heads, args.scale = 0.1F;
  args.runs = plan.runs(), args.slots = plan.slots();
  for (const auto& variant : cpu::mla_variants()) {
    if (variant.supports != nullptr && !variant.supports(args)) continue;
    const std::string name = variant.name;
    CAPTURE(name);
    out.fill_bytes(0xff);
    variant.launch(args, device->stream());
    device->synchronize();
    check_rows(out.download(), heads, mla_latent);
  }

  // Before absorption: w_uk is zeros, w_uv a unit matrix's rows.
  std::vector<Bf16> w(mla_head * mla_latent, zero);
  const Array<Bf16> w_uk(*device, w);
  for (std::size_t d = 0; d < mla_head; ++d) w[d * mla_latent + d] = one;
  const Array<Bf16> w_uv(*device, w), q_naive(*device, ones(sequences * (mla_head + mla_rope)));
  Array<Bf16> out_naive(*device, sequences * mla_head);
  out_naive.fill_bytes(0xff);
  MlaNaiveArgs naive;
  naive.q = q_naive.view(), naive.cache = view, naive.out = out_naive.view();
  naive.w_uk = w_uk.view(), naive.w_uv = w_uv.view();
  naive.batch = sequences, naive.heads = 1, naive.scale = 0.1F;
  cpu::mla_naive_variants()[0].launch(naive, device->stream());
  device->synchronize();
  check_rows(out_naive.download(), 1, mla_head);
}
