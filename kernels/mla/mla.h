#pragma once
#include <cstdint>

#include "kernels/attention/merge.h"
#include "kernels/device/global.h"
#include "kernels/host/variants.h"
#include "kernels/numbers/numbers.h"
#include "kernels/numbers/portable.h"

// What the MLA decode kernels are given. One cache row per token, shared by all heads: 512 numbers
// of the latent after its norm, which are also V, then 64 of the rope key.
namespace kvsim::kernels {

constexpr int mla_latent = 512;
constexpr int mla_rope = 64;
constexpr int mla_row = mla_latent + mla_rope;  // numbers per cache row, 1152 bytes
constexpr int mla_head = 128;                   // per head before absorption: nope of q and k, v

// The cache of a batch: rows [page][page tokens][576], and per sequence the pages in token order.
struct LatentCache {
  Global<const Bf16> rows;
  Global<const std::int32_t> table;  // [batch][max_pages]
  Global<const std::int32_t> lens;   // [batch], the query tokens included
  int max_pages = 0, log2_page = 0;
};

// A run of one sequence's tokens, done by one block. Slot -1: the whole sequence, the output is
// written at once; else where its partial result goes.
struct alignas(16) MlaPart {
  std::int32_t sequence, first_token, tokens, slot;
};

// Absorbed decode: q is already in latent space. Rows of a sequence are its `queries` tokens times
// its heads; query token t of T sees the first len - (T - 1 - t) tokens.
struct MlaArgs {
  Global<const Bf16> q;  // [batch][queries][heads][576]
  LatentCache cache;
  Global<Bf16> out;                       // [batch][queries][heads][512]
  Global<const MlaPart> parts;            // by run
  Global<const std::int32_t> run_first;   // [runs + 1], into parts
  Global<const std::int32_t> slot_first;  // [batch + 1]: the slots of each sequence, maybe none
  Partials partials;                      // [slot][rows]
  int batch = 0, heads = 0, queries = 1, runs = 0, slots = 0;
  float scale = 0;

  KVSIM_FN int rows() const { return heads * queries; }
  // How many of `len` tokens a row sees; may be negative.
  KVSIM_FN int limit(int len, int row) const { return len - (queries - 1 - row / heads); }
};

// The form before absorption: K and V of a token are projected from its cache row by the head's
// matrices, for every head and step again.
struct MlaNaiveArgs {
  Global<const Bf16> q;  // [batch][heads][128 + 64]
  LatentCache cache;
  Global<const Bf16> w_uk, w_uv;  // [heads][128][512]
  Global<Bf16> out;               // [batch][heads][128]
  int batch = 0, heads = 0;
  float scale = 0;
};

namespace cpu {
VariantList<MlaArgs> mla_variants();
VariantList<MlaNaiveArgs> mla_naive_variants();
}  // namespace cpu
namespace gpu {
VariantList<MlaArgs> mla_variants();
VariantList<MlaNaiveArgs> mla_naive_variants();
}  // namespace gpu

}  // namespace kvsim::kernels
