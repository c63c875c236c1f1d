#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"

// The cores of multi-head latent attention as closed forms, shared by the core's own forms and
// those of the whole block. Microseconds; parameters in the order of their tables. Evaluation is
// O(1), without allocation.
//
// Sizes are relative to DeepSeek-V3's, whose kernels were measured (latent 512 + 64 for positions
// in decode, keys of 192 and values of 128 in prefill): other sizes scale bytes, flops and tile
// times.
namespace kvsim::cost::mla {

// Absorbed decode, split over the keys: tiles of `keys` tokens on CTAs that hold up to `heads`
// query rows, `ctas` of them per SM.
//   tiles = ceil(h / heads), W = batch tiles, nb = ceil(kv / keys)
//   s     = clip(floor(ctas SM / W), 1, min(nb, splits))
//   path  = (waves - 1) wave (1 + wave_rows rows/64)
//           + waves ceil(nb / s) tile keys/64 (1 + tile_rows rows/64),  waves = ceil(W s / SM);
//           `tile` is `wide` times as long in kernels for more than 64 heads
//   mem   = (bytes + ramp) missed / bandwidth,  ramp = ramp bytes / (bytes + ramp)
//   comp  = 2 batch kv max(h, rows_min) (2 latent + rope) / rate
//   split = merge + merge_rows batch h min(splits, nb, ctas SM / W) / (1000 SM) where s > 1
//   t     = floor + sequences batch/100 + queries batch h/10^4 + pnorm(path, mem, comp) + split
// A batch that is no longer split takes at least as long as the largest one that is.
inline constexpr std::array<Parameter, 18> decode_parameters{{
    {"floor", 11, 1, 200},
    {"sequences", 0.8, 0.001, 50},
    {"queries", 9, 0.01, 200},
    {"wave", 2, 0.005, 30, Scaling::tile_time},
    {"wave_rows", 0.1, 1e-4, 10},
    {"tile", 1, 0.05, 60, Scaling::tile_time},
    {"tile_rows", 0.3, 1e-4, 20},
    {"bandwidth_share", 0.85, 0.03, 1},
    {"ramp_mb", 25, 0.01, 200},
    {"l2_share", 0.55, 0.02, 2},
    {"l2_sharpness", 3, 1, 15},
    {"rows_min", 2, 0.5, 128},
    {"rate", 900, 20, 20000, Scaling::matrix_rate},
    {"splits", 40, 1, 256},
    {"merge", 1.5, 0.005, 30},
    {"merge_rows", 60, 0.05, 1000},
    {"power", 3, 1, 10},
    {"wide", 1, 0.05, 4},
}};

// Materialised prefill, causal: query tiles of `queries` rows over key tiles of 64.
//   thr  = (batch h tiles launch + batch h blocks block) / SM scaled by pairs,
//   crit = longest (launch + blocks of the last tile block)
//   io   = 2 batch h q (2 keys + 2 values) bytes, read while in the L2 cache at `warm` x bandwidth
//   t    = floor + sequences batch/100 + pnorm(thr, crit) + io / bandwidth
inline constexpr std::array<Parameter, 9> prefill_parameters{{
    {"floor", 13, 1, 200},
    {"sequences", 1.5, 0.001, 50},
    {"block", 1, 0.02, 60, Scaling::tile_time},
    {"launch", 1.8, 0.005, 60},
    {"longest", 0.95, 0.02, 4},
    {"power", 1.4, 1, 10},
    {"bandwidth_share", 0.7, 0.03, 1},
    {"warm", 3, 1, 20},
    {"l2_share", 0.4, 0.02, 3},
}};

template <int heads, int keys, int ctas>
double decode_us(const Mla& s, const Device& d, const double* p, Buffers buffers) {
  const double width = (s.latent + s.rope) / 576, product = 2 * s.latent + s.rope;
  const double rows = s.n_heads * s.q_len, held = std::min<double>(rows, heads);
  const double tiles = std::ceil(rows / heads), slots = ctas * d.sms;
  const double blocks = std::ceil(s.kv_len / keys), most = std::min(blocks, p[13]);
  const double wave = p[3] * (1 + p[4] * held / 64);
  const double tile =
      p[5] * width * (keys / 64.0) * (1 + p[6] * held / 64) * (s.n_heads > 64 ? p[17] : 1);

  const double mb = 1e-6 * s.batch * s.kv_len * (s.latent + s.rope) * s.kv.weight_bytes;
  const double memory = 1e3 * (mb + p[8] * mb / (mb + p[8])) *
                        missed(mb, d.l2_mb, p[9], p[10], buffers) / (p[7] * d.bandwidth);
  const double compute = 2e-6 * s.batch * s.kv_len * std::max(rows, p[11]) * product / p[12];
  const auto core = [&](double batch, double splits) {
    const double rounds = std::ceil(batch * tiles * splits / d.sms);
    const double path = (rounds - 1) * wave + rounds * std::ceil(blocks / splits) * tile;
    const double share = batch / s.batch;
    return pnorm(pnorm(path, share * memory, p[16]), share * compute, p[16]);
  };
  // The parts that are merged: as many as fit the SMs, not rounded down.
  const auto merge = [&](double batch) {
    const double parts = std::min(most, slots / (batch * tiles));
    return p[14] + p[15] * batch * rows * parts * width / (1000 * d.sms);
  };

  const double splits = std::clamp(std::floor(slots / (s.batch * tiles)), 1.0, most);
  double t = core(s.batch, splits);
  if (splits > 1) {
    t += merge(s.batch);
  } else if (most > 1) {
    const double last = slots / (2 * tiles);  // largest batch that is split
    if (last >= 1 && last < s.batch) t = std::max(t, core(last, std::min(most, 2.0)) + merge(last));
  }
  return p[0] + p[1] * s.batch / 100 + p[2] * s.batch * rows / 1e4 + t;
}

template <int queries>
double prefill_us(const Mla& s, const Device& d, const double* p, Buffers buffers) {
  constexpr double keys = 64;
  const double width = (s.nope + s.rope + s.value) / 320;
  const double prefix = s.kv_len - s.q_len, tiles = std::ceil(s.q_len / queries);
  // All tiles but the last end on a multiple of the tile.
  const double blocks = (tiles - 1) * (std::ceil(prefix / keys) + tiles / 2 * (queries / keys)) +
                        std::ceil(s.kv_len / keys);
  const double block = p[2] * width * queries / 128;
  double through = s.batch * s.n_heads * (tiles * p[3] + blocks * block) / d.sms;
  if (s.pairs > 0) through *= s.pairs / (s.batch * causal_pairs(s.q_len, s.kv_len, 0));
  const double longest = p[4] * (p[3] + std::ceil(s.kv_len / keys) * block);
  const double mb =
      2e-6 * s.batch * s.n_heads *
      (s.q_len * (s.nope + s.rope + s.value) + s.kv_len * (s.nope + s.rope + s.value));
  const double cold = missed(mb, d.l2_mb, p[8], 3, buffers);
  return p[0] + p[1] * s.batch / 100 + pnorm(through, longest, p[5]) +
         1e3 * mb * (cold + (1 - cold) / p[7]) / (p[6] * d.bandwidth);
}

}  // namespace kvsim::cost::mla
