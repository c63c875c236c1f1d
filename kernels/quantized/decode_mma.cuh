#pragma once
#include "kernels/attention/block_states.cuh"
#include "kernels/quantized/decode_steps.cuh"

// The kernel around decode_steps.cuh, for both ways of a warp to lay out its products.
namespace kvsim::kernels::KVSIM_BACKEND {

template <KvFormat format, class Warp>
__global__ void __launch_bounds__(decode_mma_threads, (places_per_sm(format, Warp::heads)))
    decode_quantised_mma(const DecodeQuantisedArgs args) {
  using Fragments = typename FragmentsOf<format>::Type;
  KVSIM_SHARED(shared);
  const QuantisedKv& kv = args.kv;
  const int part = static_cast<int>(blockIdx.x), head = static_cast<int>(blockIdx.y),
            sequence = static_cast<int>(blockIdx.z);
  const int rows = args.merge.heads_per_group, group = sequence * kv.kv_heads + head;
  const float key_scale = Fragments::scaled_outside ? load(kv.key_scale + head) : 1.0F;
  const float value_scale = Fragments::scaled_outside ? load(kv.value_scale + head) : 1.0F;

  Warp me;
  me.template load_queries<Fragments>(
      args.q + static_cast<std::int64_t>(group) * rows * quantised_dim, rows,
      args.scale * log2_e * key_scale);
  const int len = load(kv.lens + sequence);
  const int pooled = kv.quantised ? load(kv.quantised + sequence) : len;
  if (part < args.pool_splits()) {
    constexpr int tile = Fragments::step * decode_mma_warps;
    const int tiles = (pooled + tile - 1) / tile;
    const int per_part = (tiles + args.pool_splits() - 1) / args.pool_splits() * tile;
    const int first = part * per_part, end = first + per_part < pooled ? first + per_part : pooled;
    attend_steps<Fragments>(me, PoolRows<format>{kv, sequence, head, end}, first, end);
  } else if constexpr (format == KvFormat::kivi2) {
    const std::int64_t at = static_cast<std::int64_t>(group) * kv.residual * quantised_dim;
    attend_steps<ResidualFragments>(me, ResidualRows{kv.key_residual + at, kv.value_residual + at},
                                    0, len - pooled);
  }

  const BlockStates states = block_states_at(shared, decode_mma_warps, rows, quantised_dim);
  me.put(states, value_scale);
  __syncthreads();
  const std::int64_t partial =
      args.merge.splits == 1 ? -1 : static_cast<std::int64_t>(group) * args.merge.splits + part;
  write_rows<quantised_dim>(states, args.merge, {group, 0, rows, partial});
}

template <KvFormat format, class Warp>
void launch_quantised_mma(const DecodeQuantisedArgs& args, Stream stream) {
  const auto parts = static_cast<unsigned>(args.merge.splits);
  const unsigned shared =
      block_states_bytes(decode_mma_warps, args.merge.heads_per_group, quantised_dim);
  launch(decode_quantised_mma<format, Warp>,
         {parts, static_cast<unsigned>(args.kv.kv_heads), static_cast<unsigned>(args.sequences)},
         decode_mma_threads, shared, stream, args);
  if (args.merge.splits > 1) launch_merge(args.merge, stream);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
