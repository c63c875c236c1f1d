#pragma once
#include "kernels/attention/paged_kv.h"
#include "kernels/device/kv_device.h"

// The device half of paged_kv.h: it reads the page table.
namespace kvsim::kernels::KVSIM_BACKEND {

// The physical page of a token, with the page size as a template argument (a division by a runtime
// page size would cost more instructions than the rest of a row's address).
template <int log_page>
__device__ __forceinline__ int page_of_token(const PagedKv& kv, int sequence, int token) {
  if constexpr (log_page == contiguous_kv) {
    return sequence;
  } else {
    return load(kv.table + kv.table_entry(sequence, token >> log_page));
  }
}

template <int log_page>
__device__ __forceinline__ int slot_of_token(int token) {
  if constexpr (log_page == contiguous_kv) {
    return token;
  } else {
    return token & ((1 << log_page) - 1);
  }
}

// Elements before the token's row, in either pool.
template <int log_page>
__device__ __forceinline__ std::int64_t row_of_token(const PagedKv& kv, int sequence, int kv_head,
                                                     int token) {
  return kv.row(page_of_token<log_page>(kv, sequence, token), kv_head,
                slot_of_token<log_page>(token));
}

// The same with log_page known at run time only; for kernels that are not bound by addresses.
__device__ __forceinline__ std::int64_t row_of_token(const PagedKv& kv, int log_page, int sequence,
                                                     int kv_head, int token) {
  if (log_page == contiguous_kv) return kv.row(sequence, kv_head, token);
  const int page = load(kv.table + kv.table_entry(sequence, token >> log_page));
  return kv.row(page, kv_head, token & ((1 << log_page) - 1));
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
