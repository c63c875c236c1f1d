#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

#include <type_traits>

#include "kernels/gemm/cublaslt_abi.h"

// NVIDIA's header against our own statement of it.
namespace kvsim::kernels::cublaslt {
namespace {

static_assert(success == CUBLAS_STATUS_SUCCESS && not_supported == CUBLAS_STATUS_NOT_SUPPORTED);
static_assert(int{f32} == CUDA_R_32F && int{bf16} == CUDA_R_16BF && int{e4m3} == CUDA_R_8F_E4M3);
static_assert(int{compute_f32} == CUBLAS_COMPUTE_32F);
static_assert(int{normal} == CUBLAS_OP_N && int{transposed} == CUBLAS_OP_T);
static_assert(int{transa} == CUBLASLT_MATMUL_DESC_TRANSA &&
              int{transb} == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int{max_workspace_bytes} == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

// Functions agree where their parameters do, enumerations and pointers told apart by size only.
template <class Ours, class Theirs>
struct Agree : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Agree<R (*)(A...), S(B...)>
    : std::bool_constant<sizeof(R) == sizeof(S) && ((sizeof(A) == sizeof(B)) && ...)> {
};

static_assert(Agree<decltype(Functions::create), decltype(cublasLtCreate)>::value);
static_assert(Agree<decltype(Functions::destroy), decltype(cublasLtDestroy)>::value);
static_assert(Agree<decltype(Functions::desc_create), decltype(cublasLtMatmulDescCreate)>::value);
static_assert(Agree<decltype(Functions::desc_destroy), decltype(cublasLtMatmulDescDestroy)>::value);
static_assert(
    Agree<decltype(Functions::desc_set), decltype(cublasLtMatmulDescSetAttribute)>::value);
static_assert(
    Agree<decltype(Functions::layout_create), decltype(cublasLtMatrixLayoutCreate)>::value);
static_assert(
    Agree<decltype(Functions::layout_destroy), decltype(cublasLtMatrixLayoutDestroy)>::value);
static_assert(
    Agree<decltype(Functions::preference_create), decltype(cublasLtMatmulPreferenceCreate)>::value);
static_assert(Agree<decltype(Functions::preference_destroy),
                    decltype(cublasLtMatmulPreferenceDestroy)>::value);
static_assert(Agree<decltype(Functions::preference_set),
                    decltype(cublasLtMatmulPreferenceSetAttribute)>::value);
static_assert(
    Agree<decltype(Functions::heuristic), decltype(cublasLtMatmulAlgoGetHeuristic)>::value);
static_assert(Agree<decltype(Functions::matmul), decltype(cublasLtMatmul)>::value);

}  // namespace
}  // namespace kvsim::kernels::cublaslt
#endif
