#pragma once
// All that kernel text (.cuh) may include. The same text is compiled twice: by nvcc for the GPU, in
// namespace kvsim::kernels::gpu, and by the C++ compiler for the executor, in
// kvsim::kernels::cpu; KVSIM_BACKEND is that name. Plain CUDA (threadIdx, __syncthreads, shuffles,
// votes, __launch_bounds__) works in both; what is inline PTX on the GPU is one function here.
//
//   KVSIM_SHARED(name)            the block's dynamic shared memory, `unsigned char* name`;
//                                 a kernel has no other shared memory
//   load, load_stream, store      global memory by Global<T>; load_stream (16 bytes) bypasses L1
//   cp_async16(shared, global)    16 bytes to shared memory, lands at cp_wait; with `valid` false
//                                 zeros land and nothing is read
//   cp_commit, cp_wait<N>         closes a group; waits until at most N groups are in flight
//   ldsm4, ldsm4_trans            ldmatrix .x4: lane i gives the address of row i % 8 of
//                                 matrix i / 8
//   mma_bf16_16816, mma_f16_16816, mma_e4m3_16832
//                                 D += A B by one warp: A row-major 16 x k, B column-major k x 8,
//                                 D f32 16 x 8, registers as PTX lays them out
//   movmatrix_trans(word)         transposes an 8 x 8 matrix of 16-bit elements; lane i holds two
//                                 neighbours of row i / 4
//   sync_threads(id, n)           barrier `id` (1 to 15) of n threads of the block
//   opaque(x)                     x, but the compiler does not know: what is computed from it in a
//                                 loop is not kept in registers across iterations
//   ex2(x)                        2^x, approximate
//   pack_bf16(lo, hi), pack_f16   two floats to one 32-bit register, lo in the low half
//   unpack_e4m3x2(two)            two E4M3 bytes to two halves (f16x2)
//   pack_e4m3x2(lo, hi)           two floats to two E4M3 bytes, saturating
//   fma_f16x2(a, b, c)            a b + c for both halves, rounded once
//   byte_perm(a, b, selector)     byte i of the result is byte (selector >> 4 i) & 7 of b:a
//   round_to_int(x)               the nearest integer, ties to even
//   atomic_add, atomic_max        global memory, acquire-release; returns the old value
//   prefetch_l2(p)                asks for the 128-byte line of p
//   prefetch_l2_bulk(p, bytes)    (compute capability 9.0) the same for a multiple of 16 bytes at
//   once mbar_init, mbar_expect_tx, mbar_arrive, mbar_wait, bulk_g2s
//                                 (compute capability 9.0) bulk copies that signal an mbarrier
//
//   launch(kernel, grid, threads, shared_bytes, stream, args)
//                                 host: queues `kernel`, a __global__ function of one struct by
//                                 value
//
// Barriers and collectives are told apart by file and line: one per line.
#ifdef __CUDACC__
#define KVSIM_BACKEND gpu
#include "kernels/device/gpu.h"
#else
#define KVSIM_BACKEND cpu
#include "kernels/device/cpu.h"
#endif
