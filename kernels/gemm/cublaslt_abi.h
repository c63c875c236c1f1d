#pragma once
#include <cstddef>
#include <cstdint>

// The part of cuBLASLt's C interface that a product needs, so that no header of the toolkit is
// needed to build and no library to start. cublaslt_abi_gpu.cu compares it with NVIDIA's header.
namespace kvsim::kernels::cublaslt {

using Status = int;  // 0: success
constexpr Status success = 0;
constexpr Status not_supported = 15;

enum DataType : int { f32 = 0, bf16 = 14, e4m3 = 28 };  // cudaDataType
enum ComputeType : int { compute_f32 = 68 };
enum Operation : int { normal = 0, transposed = 1 };
enum DescAttribute : int { transa = 3, transb = 4 };
enum PreferenceAttribute : int { max_workspace_bytes = 1 };

struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

// Handles are opaque pointers.
using Handle = void*;
using MatmulDesc = void*;
using Layout = void*;
using Preference = void*;

struct Functions {
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*desc_create)(MatmulDesc*, ComputeType, DataType);
  Status (*desc_destroy)(MatmulDesc);
  Status (*desc_set)(MatmulDesc, DescAttribute, const void*, std::size_t);
  Status (*layout_create)(Layout*, DataType, std::uint64_t rows, std::uint64_t columns,
                          std::int64_t leading);
  Status (*layout_destroy)(Layout);
  Status (*preference_create)(Preference*);
  Status (*preference_destroy)(Preference);
  Status (*preference_set)(Preference, PreferenceAttribute, const void*, std::size_t);
  Status (*heuristic)(Handle, MatmulDesc, Layout a, Layout b, Layout c, Layout d, Preference,
                      int wanted, HeuristicResult*, int* found);
  Status (*matmul)(Handle, MatmulDesc, const void* alpha, const void* a, Layout, const void* b,
                   Layout, const void* beta, const void* c, Layout, void* d, Layout,
                   const Algorithm*, void* workspace, std::size_t workspace_bytes, void* stream);
};

}  // namespace kvsim::kernels::cublaslt
