#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/splits.h"

// Prefill attention: causal, `q_len` new tokens at the end of `kv_len`, in tiles of M query rows
// and blocks of N keys. A tile reads the blocks between its window's start and its last query; a
// prefix shifts that mask. Rivals differ in M and N by head_dim, and in whether the query heads of
// a KV head share a tile. Common to all,
//
//   work = (tiles start + blocks block + rows) / SMs          throughput, at least its bytes' time
//   path = critical (start + blocks of the longest tile)      one CTA
//   t    = launch + sequences + smooth maximum of work and path
//          + the kernel before it that rotates and writes the cache, + joining splits
//
// Queries and new keys come warm from the kernel before while they fit the L2 cache, in a benchmark
// as in a serving step; the prefix is read from memory. Closed sums, so the cost is constant.
// Sources: tile sizes of TensorRT-LLM's fused kernels and of FlashAttention 3 on sm80;
// docs/explanation/cost-model.md.
namespace kvsim::cost {
namespace {

enum At : std::size_t {
  launch,
  launch_64,
  launch_256,
  sequences,
  block,
  block_64,
  block_192,
  block_256,
  partial,
  windowed,
  start,
  start_64,
  start_256,
  windowed_start,
  row,
  critical,
  blend,
  streaming,
  cached,
  l2_share,
  reads,
  own,  // parameters of one kernel alone begin here
};
enum Flash : std::size_t { merge = own, merge_mb };

constexpr std::array<Parameter, own> shared{{
    {"launch", 11, 1, 100},
    {"launch_64", 1, 0.5, 2.5},  // of launch, head_dim 64
    {"launch_256", 1, 0.5, 2.5},
    {"sequences", 0.2, 0.0001, 10},             // per 100 sequences
    {"block", 2, 0.1, 50, Scaling::tile_time},  // 128 x 128 at head_dim 128
    {"block_64", 0.7, 0.2, 2},                  // of block
    {"block_192", 1.5, 0.5, 8},
    {"block_256", 1.8, 0.5, 8},
    {"partial", 0.8, 0.001, 0.98},                 // of block, saved by rows that are not there
    {"windowed", 1.5, 0.3, 8},                     // a block's time under a window
    {"start", 2.5, 0.01, 20, Scaling::tile_time},  // of a tile
    {"start_64", 1, 0.05, 10},
    {"start_256", 1, 0.05, 10},
    {"windowed_start", 1, 0.3, 3},
    {"row", 1.5, 0.001, 20, Scaling::tile_time},  // per 100 rows at head_dim 128
    {"critical", 0.9, 0.05, 4},
    {"blend", 0.5, 0.001, 1},
    {"streaming", 0.9, 0.2, 1},  // of HBM's peak
    {"cached", 5, 1, 20},        // L2's rate in that of memory
    {"l2_share", 0.4, 0.05, 3},  // of L2 that holds what comes warm
    {"reads", 0.5, 0.01, 3},     // of the attention's own bytes
}};
constexpr auto flash_parameters = [] {
  std::array<Parameter, own + 2> out{};
  std::ranges::copy(shared, out.begin());
  out[merge] = {"merge", 5, 0.01, 30};
  out[merge_mb] = {"merge_mb", 1, 0.05, 10};  // time of the partial outputs' bytes at HBM's peak
  return out;
}();

struct Tile {
  int rows, keys;
};
struct Kernel {
  Tile at_64, at_128, at_256;  // by head_dim
  bool packs = false;          // heads of a group share tiles, short grids split keys
};

struct Blocks {
  double total = 0, most = 0;  // of all tiles, of the longest
};

// Tiles of `rows` positions, a multiple of `keys`. Tile i sees blocks up to (i + 1) step + prefix's
// and from i step + skipped on.
Blocks tall_blocks(const PrefillAttention& s, double window, double rows, double keys) {
  const double tiles = std::ceil(s.q_len / rows), full = tiles - 1, step = rows / keys;
  const double prefix = s.kv_len - s.q_len, before = std::ceil(prefix / keys);
  const double last = std::ceil(s.kv_len / keys);
  Blocks b{step * full * (full + 1) / 2 + full * before + last, last};
  if (window <= 0) return b;
  const double skipped = std::floor((prefix + 1 - window) / keys);
  const double first = skipped >= 0 ? 0 : std::min(tiles, std::ceil(-skipped / step));
  b.total -= step * (tiles * full - first * (first - 1)) / 2 + (tiles - first) * skipped;
  b.most = last - std::max(0.0, full * step + skipped);
  if (full > 0)
    b.most = std::max(b.most, full * step + before - std::max(0.0, (full - 1) * step + skipped));
  return b;
}

// `tiles` tiles that `group` heads share, `share` of which end in the same block of keys; exact
// where that is whole, else between its neighbours.
Blocks packed_blocks(const PrefillAttention& s, double window, double rows, double keys,
                     double group) {
  const double share = keys * group / rows;
  if (share <= 1) return tall_blocks(s, window, rows / group, keys);
  const double tiles = std::ceil(s.q_len * group / rows), prefix = s.kv_len - s.q_len;
  const double before = std::ceil(prefix / keys), last = std::ceil(s.kv_len / keys);
  const double rest = std::max(0.0, tiles - 1 - share * (before - prefix / keys));
  const double whole = std::floor(rest / share);
  Blocks b{(tiles - 1) * before + last + share * whole * (whole + 1) / 2 +
               (rest - share * whole) * (whole + 1),
           last};
  if (window <= 0) return b;
  const double edge = (prefix + 1 - window) / keys, skipped = std::max(0.0, std::floor(edge));
  const double moved = std::max(0.0, tiles + share * (edge - skipped));
  const double steps = std::floor(moved / share);
  b.total -= tiles * skipped + share * steps * (steps - 1) / 2 + (moved - share * steps) * steps;
  b.most = std::min(b.most, std::ceil(window / keys) + 1);
  return b;
}

// By head_dim, in what head_dim 128 has: straight lines between the measured ones.
double between(double d, double at_64, double at_192, double at_256) {
  if (d <= 64) return at_64;
  if (d <= 128) return at_64 + (1 - at_64) * (d - 64) / 64;
  if (d <= 192) return 1 + (at_192 - 1) * (d - 128) / 64;
  if (d <= 256) return at_192 + (at_256 - at_192) * (d - 192) / 64;
  return at_256;
}

template <Kernel k>
double microseconds(const Shape& shape, const Device& device, std::span<const double> p, Buffers) {
  const auto& s = std::get<PrefillAttention>(shape);
  const double d = s.head_dim, q = s.q_len, sms = device.sms, group = s.n_heads / s.n_kv_heads;
  const double window = s.window < s.kv_len ? s.window : 0;
  const Tile tile = d <= 64 ? k.at_64 : d <= 128 ? k.at_128 : k.at_256;
  const double rows = tile.rows, keys = tile.keys;

  double tiles, filled, heads, splits = 1;
  Blocks b;
  bool split = false;
  if constexpr (k.packs) {
    tiles = std::ceil(q * group / rows), filled = q * group / rows, heads = s.n_kv_heads;
    b = packed_blocks(s, window, rows, keys, group);
    // As many as one sequence alone would get make the kernel write partial results; as many as
    // the SMs have room for are in use.
    const double lengths = window > 0 ? b.most : std::ceil(s.kv_len / keys);
    const double room = filling_splits(tiles * heads, lengths, sms, Counts::any);
    split = room > 1 && lengths > 4;
    const double ctas = s.batch * tiles * heads;
    if (split)
      splits = std::min({room, std::ceil(lengths / std::ceil(1.1 * ctas * lengths / sms)),
                         std::max(1.0, std::floor(sms / ctas))});
  } else {
    tiles = std::ceil(q / rows), filled = q / rows, heads = s.n_heads;
    b = tall_blocks(s, window, rows, keys);
  }

  // Of a tile that is not full, the new tokens' own blocks take less; those of a prefix do not.
  const double lacking =
      p[partial] * (1 - std::min(filled, 1.0)) * std::min(b.most, std::max(1.0, q / keys));
  double blocks = b.total - lacking;
  if (s.pairs > 0) blocks *= s.pairs / (s.batch * causal_pairs(q, s.kv_len, s.window));
  double one = p[block] * between(d, p[block_64], p[block_192], p[block_256]) * rows * keys / 16384;
  if (d > 256) one *= d / 256;
  if (window > 0) one *= p[windowed];
  double begin = p[start] * between(d, p[start_64], p[start_256], p[start_256]);
  if (s.window > 0) begin *= p[windowed_start];
  double work =
      s.batch *
      (heads * (tiles * splits * begin + blocks * one) + s.n_heads * q * d / 12800 * p[row]) / sms;
  const double longest = split ? std::ceil(b.most / splits) : b.most;
  const double path = p[critical] * (begin + (longest - lacking) * one);

  const double peak = device.bandwidth * 1e-3, bandwidth = p[streaming] * peak;  // MB per us
  const double mb = s.batch * d * 1e-6;
  const double written = mb * q * 4 * (s.n_heads + 2 * s.n_kv_heads);
  const double over = written / (p[l2_share] * device.l2_mb);
  const double warm = 1 / (1 + over * over * over);
  const double per_mb = (warm / p[cached] + 1 - warm) / bandwidth;
  const double kv = 2 * s.n_kv_heads * s.kv.weight_bytes;
  const double bytes =
      p[reads] * per_mb * mb * q * (4 * s.n_heads + kv) + mb * (s.kv_len - q) * kv / bandwidth;
  constexpr double overlap = 0.05;
  work = smooth_max(work, bytes, overlap);

  // Tiles of many lengths, as a causal mask makes them, leave SMs idle at the end; those behind a
  // long prefix are nearly equal. Without a prefix only short calls have equal tiles, and they
  // cannot tell how much that saves: the least share is a guess that they do not contradict.
  const double uneven = std::clamp(2 * (1 - b.total / (tiles * b.most)), 0.3, 1.0);
  double t = p[launch] * between(d, p[launch_64], p[launch_256], p[launch_256]) +
             p[sequences] * s.batch / 100 + written * per_mb +
             smooth_max(work, path, p[blend] * uneven);
  if constexpr (k.packs)
    if (split) t += p[merge] + p[merge_mb] * mb * q * s.n_heads * splits * 8 / peak;
  return t;
}

// The pairs are seen in those of the new tokens alone without a window: a prefix, of which there
// are no measurements, lies at the edge of the residual tables, not in a corner that no row holds.
constexpr std::array<std::string_view, 4> names{"log2_sequences_x_heads", "log2_new_tokens",
                                                "log2_pairs_per_own_pair", "log2_head_dim"};
Features features(const Shape& shape) {
  const auto& s = std::get<PrefillAttention>(shape);
  const double q = s.q_len;
  return {std::log2(s.batch * s.n_heads), std::log2(q),
          std::log2(2 * causal_pairs(q, s.kv_len, s.window) / (q * (q + 1))),
          std::log2(s.head_dim)};
}

template <Kernel k>
constexpr Form form(std::string_view name, std::string_view summary) {
  if constexpr (k.packs)
    return {"prefill_attn",  name,     summary, nullptr, flash_parameters,
            microseconds<k>, features, names};
  else
    return {"prefill_attn", name, summary, nullptr, shared, microseconds<k>, features, names};
}
constexpr Tile t128{128, 128}, t128_64{128, 64}, t64{64, 64};
constexpr std::array<Form, 6> table{
    form<Kernel{t128, t128, t128}>("128x128", "tiles of 128 rows, blocks of 128 keys"),
    form<Kernel{t128_64, t128_64, t128_64}>("128x64", "tiles of 128 rows, blocks of 64 keys"),
    form<Kernel{t64, t64, t64}>("64x64", "tiles of 64 rows, blocks of 64 keys"),
    form<Kernel{t128, t64, t64}>("64x64_small_128x128", "64 x 64, 128 x 128 up to head_dim 64"),
    form<Kernel{t128, t128, t64}>("128x128_large_64x64", "128 x 128, 64 x 64 beyond head_dim 128"),
    form<Kernel{t128_64, t128_64, t128_64, true}>("flash_attention_3",
                                                  "128 x 64, packed heads, short grids split keys"),
};

}  // namespace

std::span<const Form> prefill_attention_forms() { return table; }

}  // namespace kvsim::cost
