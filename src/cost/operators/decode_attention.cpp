#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/splits.h"

// Decode attention: one query token per sequence (a few in a speculative verify) over its cached
// keys and values. Kernels differ in how query heads share a CTA, in the length of a KV tile, and
// in how a sequence is split over the SMs; those are the rivals. Common to all,
//
//   work  = CTAs before splitting: sequences x KV heads (x tiles of query rows)
//   tiles = KV tiles of a sequence, splits = parts that it is cut into
//   path  = rounds of CTAs on the SMs x (tiles / splits of each x tile + row) + (rounds - 1) wave
//   mem   = bytes over a share of HBM's peak, after a ramp
//   t     = launch + sequences + merge of the splits + smooth maximum of path and mem
//
// with the tile's time by head_dim. Sources: the split heuristics of FlashAttention 2 and 3,
// FlashInfer's planner, vLLM's Triton kernel; docs/explanation/cost-model.md.
namespace kvsim::cost {
namespace {

enum At : std::size_t {
  launch,
  launch_64,
  sequences,
  wave,
  row,
  tile,
  tile_64,
  tile_192,
  tile_256,
  windowed,
  edge,
  edge_64,
  streaming,
  ramp,
  l2_share,
  merge,
  merge_row,
  merge_split,
  blend,
  own,  // parameters of one kernel alone begin here
};
enum FlashTwo : std::size_t { alone = own, copy, copy_mb };
enum FlashThree : std::size_t { unplanned = own };
enum FlashInfer : std::size_t { heads = own, tall, tall_start };

constexpr std::array<Parameter, own> shared{{
    {"launch", 9, 1, 100},
    {"launch_64", 1, 0.7, 1.3},                   // of launch, head_dim 64
    {"sequences", 0.5, 0.001, 500},               // per 100 sequences
    {"wave", 2, 0.01, 20, Scaling::tile_time},    // the next CTA on an SM
    {"row", 0.1, 0.001, 4, Scaling::tile_time},   // per 16 query rows of a CTA
    {"tile", 1.3, 0.05, 50, Scaling::tile_time},  // one KV tile at head_dim 128
    {"tile_64", 0.6, 0.2, 1.5},                   // of tile
    {"tile_192", 1.5, 0.5, 5},
    {"tile_256", 2, 0.5, 6},
    {"windowed", 1, 0.3, 5},  // a tile's time where a window cuts the sequence
    {"edge", 1, 0.01, 5},     // tiles more for the window's edge
    {"edge_64", 1, 0.01, 8},
    {"streaming", 0.9, 0.1, 1},  // of HBM's peak
    {"ramp", 15, 0.1, 200},      // MB that the ramp to it costs at most
    {"l2_share", 0.7, 0.2, 2},   // of L2 that holds a replayed cache
    {"merge", 2, 0.05, 30},      // the step that joins splits
    {"merge_row", 0.03, 0.001, 1},
    {"merge_split", 0.02, 0.0001, 1},
    {"blend", 0.06, 0.001, 1},
}};
template <std::size_t n>
constexpr std::array<Parameter, own + n> with(const std::array<Parameter, n>& more) {
  std::array<Parameter, own + n> out{};
  std::ranges::copy(shared, out.begin());
  std::ranges::copy(more, out.begin() + own);
  return out;
}
constexpr auto flash_two_parameters = with<3>({{
    {"alone", 1, 0.3, 3},   // a tile's time with one query head per CTA
    {"copy", 4, 0.01, 30},  // reshuffle of packed heads
    {"copy_mb", 0.5, 0.01, 20},
}});
constexpr auto flash_three_parameters = with<1>({{
    {"unplanned", 0.5, 0.01, 1.5},  // of sequences, beyond what the planning kernel takes
}});
constexpr auto flash_infer_parameters = with<3>({{
    {"heads", 1.8, 0.001, 5},  // with several KV heads
    {"tall", 1.5, 0.3, 8},     // of tile, in CTAs of 64 query rows
    {"tall_start", 5, 0.01, 20},
}});

enum class Kernel { flash_two, flash_three, flash_infer, trtllm, triton };

constexpr double planned_sequences = 992;  // FlashAttention 3's planning kernel: 31 warps

// Tokens of a KV tile.
template <Kernel k>
double tile_tokens(double head_dim) {
  switch (k) {
    case Kernel::flash_two:
      return head_dim <= 64 ? 256 : head_dim <= 128 ? 128 : 64;
    case Kernel::flash_three:
      return head_dim <= 128 ? 128 : head_dim <= 192 ? 112 : 80;
    case Kernel::flash_infer:
      return 128;
    case Kernel::trtllm:
      return 256;
    case Kernel::triton:
      return 32;
  }
}

template <Kernel k>
double splits_of(double work, double tiles, double sms) {
  switch (k) {
    case Kernel::flash_two:
      return filling_splits(work, tiles, 2 * sms, Counts::shortening);
    case Kernel::flash_three:
      return std::clamp(std::floor(sms / work), 1.0,
                        std::min(32.0, std::ceil(tiles / std::ceil(1.1 * work * tiles / sms))));
    case Kernel::flash_infer:
      return std::clamp(std::floor(2 * sms / work), 1.0, tiles);
    case Kernel::trtllm:
      return std::clamp(std::floor(sms / work), 1.0, std::min(tiles, 32.0));
    case Kernel::triton:
      return work <= 128 ? std::min(16.0, tiles) : 1;  // segments without a token return at once
  }
}

// A tile's time by head_dim, in those of head_dim 128: straight lines between the measured ones.
double width(double d, std::span<const double> p) {
  if (d <= 64) return p[tile_64];
  if (d <= 128) return p[tile_64] + (1 - p[tile_64]) * (d - 64) / 64;
  if (d <= 192) return 1 + (p[tile_192] - 1) * (d - 128) / 64;
  if (d <= 256) return p[tile_192] + (p[tile_256] - p[tile_192]) * (d - 192) / 64;
  return p[tile_256] * d / 256;
}

template <Kernel k>
double microseconds(const Shape& shape, const Device& device, std::span<const double> p,
                    Buffers buffers) {
  const auto& s = std::get<DecodeAttention>(shape);
  const double d = s.head_dim, sms = device.sms;
  const bool cut = s.window > 0 && s.kv_len > s.window;
  const double seen = cut ? s.window : s.kv_len;
  const double tiles = std::max(1.0, std::ceil(seen / tile_tokens<k>(d)));

  // FlashAttention 2 packs the heads of a group only without a window, and splits only then.
  const double group = s.queries * s.n_heads / s.n_kv_heads;
  const bool packed = k != Kernel::flash_two || (group > 1 && s.window <= 0);
  double tall_rows = 64;
  if (k == Kernel::triton || (k == Kernel::flash_infer && group <= 16)) tall_rows = 16;
  const double rows = packed ? std::min(group, tall_rows) : 1;
  const double work = s.batch * s.n_kv_heads * (packed ? std::ceil(group / tall_rows) : group);
  const double splits = packed ? splits_of<k>(work, tiles, sms) : 1;

  double one = p[tile] * width(d, p), more = 0;
  if (cut) one *= p[windowed], more = d <= 64 ? p[edge_64] : p[edge];
  if constexpr (k == Kernel::flash_two)
    if (!cut && !packed) one *= p[alone];
  double begin = 0;
  if constexpr (k == Kernel::flash_infer) {
    if (group > 16 && d > 64) one *= p[tall], begin = p[tall_start];
  } else {
    begin = p[row] * rows / 16;
  }
  const double q_heads = s.batch * s.queries * s.n_heads;
  const double mb = d * (2 * s.batch * s.n_kv_heads * seen * s.kv.weight_bytes + 4 * q_heads) / 1e6;
  const double mem = (mb + p[ramp] * mb / (mb + p[ramp])) *
                     missed(mb, device.l2_mb, p[l2_share], 8, buffers) /
                     (p[streaming] * device.bandwidth * 1e-3);

  double t = p[launch] * (d <= 64 ? p[launch_64] : 1);
  double per_sequence = p[sequences] / 100;
  if constexpr (k == Kernel::flash_three)
    if (s.batch > planned_sequences) per_sequence *= p[unplanned];
  t += per_sequence * s.batch;
  if constexpr (k == Kernel::flash_two)
    if (packed && s.batch > 1 && s.n_kv_heads > 1) t += p[copy] + p[copy_mb] * q_heads * d * 4e-6;
  if constexpr (k == Kernel::flash_infer)
    if (s.n_kv_heads > 1) t += p[heads];
  constexpr double resident = k == Kernel::triton ? 2 : 1;
  const auto run = [&](double parts) {
    const double ctas = work * parts, rounds = std::ceil(ctas / (resident * sms));
    const double starts = k == Kernel::flash_infer ? std::ceil(ctas / (2 * sms)) : rounds;
    const double path =
        rounds * (std::ceil(tiles / parts) + more) * one + starts * begin + (starts - 1) * p[wave];
    double join = 0;
    if (parts > 1)
      join = p[merge] + p[merge_split] * parts + p[merge_row] * q_heads * parts * d / 128 / sms;
    return join + smooth_max(path, mem, p[blend]);
  };
  const double planned = run(splits);
  // FlashAttention 2 and FlashInfer were measured to split where that takes longer. Of the others
  // no row says so, and the shorter time keeps a larger batch from being the faster one.
  if constexpr (k == Kernel::flash_two || k == Kernel::flash_infer) return t + planned;
  return t + (splits > 1 ? std::min(planned, run(1)) : planned);
}

constexpr std::array<std::string_view, 4> names{"log2_sequences_x_kv_heads", "log2_attended_tokens",
                                                "log2_heads_per_kv_head", "log2_head_dim"};
Features features(const Shape& shape) {
  const auto& s = std::get<DecodeAttention>(shape);
  const double seen = s.window > 0 ? std::min(s.window, s.kv_len) : s.kv_len;
  return {std::log2(s.batch * s.n_kv_heads), std::log2(seen),
          std::log2(s.queries * s.n_heads / s.n_kv_heads), std::log2(s.head_dim)};
}

template <Kernel k>
constexpr Form form(std::string_view name, std::string_view summary,
                    std::span<const Parameter> parameters) {
  return {"decode_attn", name, summary, nullptr, parameters, microseconds<k>, features, names};
}
constexpr std::array<Form, 5> table{
    form<Kernel::flash_three>("flash_attention_3", "packed heads, splits planned per step",
                              flash_three_parameters),
    form<Kernel::trtllm>("trtllm_gen", "packed heads, splits that fit one wave", shared),
    form<Kernel::flash_infer>("flashinfer",
                              "CTAs of 16 or 64 rows, splits that fit two CTAs per SM",
                              flash_infer_parameters),
    form<Kernel::flash_two>("flash_attention_2", "one head per CTA where windowed, else packed",
                            flash_two_parameters),
    form<Kernel::triton>("triton", "16 segments while the grid is small", shared),
};

}  // namespace

std::span<const Form> decode_attention_forms() { return table; }

}  // namespace kvsim::cost
