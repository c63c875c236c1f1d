#pragma once
#include <cstdint>

#include "kernels/numbers/portable.h"

// How quantised keys and values lie in memory. K and V have pools of their own, each
// [physical page][kv head][block]. A block holds `page` tokens (a multiple of 16; of 32 for KIVI)
// of one head with 128 channels as codes, [token][row], and behind them their scales:
//
//   fp8    e4m3 byte per channel; x' = code * scale, one float per kv head, outside the pools
//   int8   signed byte per channel, -127..127; f16 scale [token]; x' = code * scale
//   int4   4 bits; {f16 scale, f16 zero} [token][64-channel group]; x' = code * scale + zero
//   nvfp4  e2m1, 4 bits; e4m3 scale [token][16-channel group]; x' = code * scale * s, s a float per
//          kv head outside the pools
//   kivi2  2 bits. V: {f16 scale, f16 min} [token][32-channel group]. K: f16 scale [channel], f16
//          min [channel], once for each 32 tokens. x' = code * scale + min
//
// Codes of less than a byte come in 32-bit words of 8 (4-bit) or 16 (2-bit) successive channels;
// the even channels fill the low half, the odd ones the high half, lowest first. So one shift and
// one mask bring two neighbouring codes to the two halves of a register, where the tensor cores
// want them.
namespace kvsim::kernels {

enum class KvFormat { fp8, int8, int4, kivi2, nvfp4 };

// What this family's kernels are written for.
constexpr int quantised_dim = 128;
constexpr int kivi_group = 32;

// Bytes of codes of one token and head.
KVSIM_FN constexpr int code_row_bytes(KvFormat format) {
  switch (format) {
    case KvFormat::fp8:
    case KvFormat::int8:
      return 128;
    case KvFormat::int4:
    case KvFormat::nvfp4:
      return 64;
    case KvFormat::kivi2:
      return 32;
  }
  return 0;
}

// Bytes of scales of one token and head; of KIVI's keys the 32nd part of a group's.
KVSIM_FN constexpr int scale_row_bytes(KvFormat format) {
  switch (format) {
    case KvFormat::fp8:
      return 0;
    case KvFormat::int8:
      return 2;
    case KvFormat::int4:
    case KvFormat::nvfp4:
      return 8;
    case KvFormat::kivi2:
      return 16;
  }
  return 0;
}

KVSIM_FN constexpr int block_bytes(KvFormat format, int page) {
  return page * (code_row_bytes(format) + scale_row_bytes(format));
}

// Where in its row's words the code of a channel lies: word index and shift.
struct CodePlace {
  int word, shift;
};
template <int bits>
KVSIM_FN constexpr CodePlace code_place(int channel) {
  constexpr int per_word = 32 / bits;
  const int inside = channel % per_word;
  return {channel / per_word, (inside / 2) * bits + (inside % 2) * 16};
}

}  // namespace kvsim::kernels
