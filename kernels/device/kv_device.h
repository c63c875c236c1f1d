#pragma once
// All that kernel text (.cuh) may include. nvcc compiles it for the GPU in kvsim::kernels::gpu, the
// C++ compiler for the executor in kvsim::kernels::cpu; KVSIM_BACKEND is that name. Plain CUDA
// (threadIdx, __syncthreads, shuffles, votes, __launch_bounds__) works in both; what is inline PTX
// on the GPU is one function here. Barriers and collectives are told apart by file and line: one
// per line.
// clang-format off
//   KVSIM_SHARED(name)             unsigned char* name: the dynamic shared memory, the only one
//   load(p), store(p, value)       global memory by Global<T>
//   load_stream(p)                 16 bytes that bypass L1
//   cp_async16(shared, global)     16 bytes to shared memory, there after cp_wait; `valid` false
//                                  (a third argument): zeros land and nothing is read
//   cp_commit(), cp_wait<N>()      closes a group of copies; waits until at most N are in flight
//   ldsm4(r, row)                  ldmatrix .x4: lane i has the address of row i % 8, matrix i / 8
//   ldsm4_trans(r, row)            the same, each matrix transposed
//   mma_bf16_16816(d, a, b0, b1)   D += A B by a warp: A row-major 16 x 16, B column-major 16 x 8,
//                                  D f32 16 x 8, registers as PTX lays them out
//   mma_f16_16816(d, a, b0, b1)    the same for f16
//   mma_e4m3_16832(d, a, b0, b1)   the same for E4M3: A 16 x 32, B 32 x 8
//   movmatrix_trans(word)          transposes 8 x 8 of 16 bits; lane i has two of row i / 4
//   sync_threads(id, n)            barrier `id` (1 to 15) of n threads of the block
//   opaque(x)                      x, but the compiler does not know: what is computed from it in a
//                                  loop is not kept in registers across iterations
//   ex2(x)                         2^x, approximate
//   pack_bf16(lo, hi), pack_f16    two floats to one 32-bit register, lo in the low half
//   unpack_e4m3x2(two)             two E4M3 bytes to two halves (f16x2)
//   pack_e4m3x2(lo, hi)            two floats to two E4M3 bytes, saturating
//   fma_f16x2(a, b, c)             a b + c for both halves, rounded once
//   byte_perm(a, b, selector)      byte i of the result is byte (selector >> 4 i) & 7 of b:a
//   round_to_int(x)                the nearest integer, ties to even
//   atomic_add(p, x), atomic_max   global memory, acquire-release; the old value
//   prefetch_l2(p)                 asks for the 128-byte line of p
//   prefetch_l2_bulk(p, bytes)     (9.0, as what follows) the same for a multiple of 16 bytes
//   mbar_init(bar, arrivals)       an mbarrier: phases of so many arrivals, of parity 0, 1, 0 ...
//   mbar_expect_tx(bar, bytes)     arrives once and makes the phase wait for `bytes` more
//   mbar_arrive(bar)               arrives once
//   mbar_wait(bar, parity)         returns once the phase of that parity is complete
//   bulk_g2s(to, from, bytes, bar) one thread copies a multiple of 16 bytes; `bar` hears of them
//   launch(k, grid, n, bytes, s, a) host: queues __global__ k with n threads per block and struct a
// clang-format on
#ifdef __CUDACC__
#define KVSIM_BACKEND gpu
#include "kernels/device/gpu.h"
#else
#define KVSIM_BACKEND cpu
#include "kernels/device/cpu.h"
#endif
