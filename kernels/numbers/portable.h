#pragma once
// KVSIM_FN marks a function that host and GPU share; KVSIM_INLINE one that must be inlined there.
#ifdef __CUDACC__
#define KVSIM_FN __host__ __device__
#else
#define KVSIM_FN
#endif
