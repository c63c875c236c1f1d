#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/quantized/decode.h"

namespace kvsim::kernels::KVSIM_BACKEND {

// Tokens of one head in one page, from a slot on, in one pool.
struct BlockAt {
  Global<const std::uint8_t> block;
  int page, slot;

  template <KvFormat format>
  __device__ __forceinline__ Global<const std::uint8_t> codes(int token) const {
    return block + (slot + token) * code_row_bytes(format);
  }
  // Of KIVI's keys: the group's, for a slot at the group's begin and token 0.
  template <KvFormat format>
  __device__ __forceinline__ Global<const std::uint8_t> scales(int token) const {
    return block + (page * code_row_bytes(format) + (slot + token) * scale_row_bytes(format));
  }
};

__device__ __forceinline__ int quantised_page_of(const QuantisedKv& kv, int sequence, int token) {
  return load(kv.table +
              (static_cast<std::int64_t>(sequence) * kv.max_pages + (token >> kv.log_page)));
}

template <KvFormat format>
__device__ __forceinline__ BlockAt block_at(const QuantisedKv& kv, Global<const std::uint8_t> pool,
                                            int physical_page, int head, int token) {
  const int page = 1 << kv.log_page;
  const std::int64_t block = static_cast<std::int64_t>(physical_page) * kv.kv_heads + head;
  return {pool + block * block_bytes(format, page), page, token & (page - 1)};
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
