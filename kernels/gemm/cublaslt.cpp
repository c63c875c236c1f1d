#include "kernels/gemm/cublaslt.h"

#include <dlfcn.h>

#include <utility>

#include "kernels/gemm/cublaslt_abi.h"
#include "kernels/host/array.h"
#include "kernels/host/launch_record.h"

namespace kvsim::kernels {
namespace {

using namespace cublaslt;

struct Library {
  Functions call{};
  Handle handle = nullptr;
  std::string reason;  // "" or why it is of no use
};

template <class Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  return out != nullptr;
}

Library load_library() {
  Library out;
  void* file = nullptr;
  // The last is where a toolkit without an entry in the loader's cache has it.
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                           "/usr/local/cuda/lib64/libcublasLt.so"})
    if (file = dlopen(name, RTLD_NOW | RTLD_LOCAL); file != nullptr) break;
  if (file == nullptr) {
    out.reason =
        "no libcublasLt.so.13, .12 or libcublasLt.so on the library path or in "
        "/usr/local/cuda/lib64";
    return out;
  }
  Functions& f = out.call;
  const bool complete = find(file, "cublasLtCreate", f.create) &&
                        find(file, "cublasLtDestroy", f.destroy) &&
                        find(file, "cublasLtMatmulDescCreate", f.desc_create) &&
                        find(file, "cublasLtMatmulDescDestroy", f.desc_destroy) &&
                        find(file, "cublasLtMatmulDescSetAttribute", f.desc_set) &&
                        find(file, "cublasLtMatrixLayoutCreate", f.layout_create) &&
                        find(file, "cublasLtMatrixLayoutDestroy", f.layout_destroy) &&
                        find(file, "cublasLtMatmulPreferenceCreate", f.preference_create) &&
                        find(file, "cublasLtMatmulPreferenceDestroy", f.preference_destroy) &&
                        find(file, "cublasLtMatmulPreferenceSetAttribute", f.preference_set) &&
                        find(file, "cublasLtMatmulAlgoGetHeuristic", f.heuristic) &&
                        find(file, "cublasLtMatmul", f.matmul);
  if (!complete) {
    out.reason = "libcublasLt lacks a function of the product's interface";
  } else if (const Status status = f.create(&out.handle); status != success) {
    out.reason = "cublasLtCreate returned status " + std::to_string(status);
  }
  return out;
}

// Loaded once; the library lives as long as the program, as its own threads may.
const Library& library() {
  static const Library loaded = load_library();
  return loaded;
}

constexpr std::size_t workspace_size = 32U << 20U;

}  // namespace

struct CublasLt::State {
  std::string reason;
  MatmulDesc desc = nullptr;
  Layout a = nullptr, b = nullptr, c = nullptr;
  Algorithm algorithm{};
  Array<unsigned char> workspace;

  ~State() {
    const Functions& f = library().call;
    if (desc != nullptr) f.desc_destroy(desc);
    for (const Layout layout : {a, b, c})
      if (layout != nullptr) f.layout_destroy(layout);
  }

  // Row-major C = A B^T is column-major C^T = (B^T)^T A^T: the library's first factor is our B,
  // transposed, its second our A; the one arrangement that it has for E4M3.
  Status describe(const Functions& f, const CublasLtProblem& p) {
    const DataType type = p.bytes_per_element == 1 ? e4m3 : bf16;
    const auto m = static_cast<std::uint64_t>(p.m), n = static_cast<std::uint64_t>(p.n),
               k = static_cast<std::uint64_t>(p.k);
    const Operation first = transposed, second = normal;
    Status status = f.desc_create(&desc, compute_f32, f32);
    if (status == success) status = f.desc_set(desc, transa, &first, sizeof first);
    if (status == success) status = f.desc_set(desc, transb, &second, sizeof second);
    if (status == success) status = f.layout_create(&b, type, k, n, p.k);
    if (status == success) status = f.layout_create(&a, type, k, m, p.k);
    if (status == success) status = f.layout_create(&c, bf16, n, m, p.n);
    return status;
  }

  Status choose(const Functions& f, Handle handle) {
    Preference preference = nullptr;
    Status status = f.preference_create(&preference);
    if (status != success) return status;
    status =
        f.preference_set(preference, max_workspace_bytes, &workspace_size, sizeof workspace_size);
    HeuristicResult result{};
    int found = 0;
    if (status == success)
      status = f.heuristic(handle, desc, b, a, c, c, preference, 1, &result, &found);
    f.preference_destroy(preference);
    if (status == success && found == 0) status = not_supported;
    if (status == success) status = result.state;
    algorithm = result.algorithm;
    return status;
  }
};

CublasLt::CublasLt(Device& device, const CublasLtProblem& problem)
    : state_(std::make_unique<State>()) {
  const Library& loaded = library();
  state_->reason = loaded.reason;
  if (!state_->reason.empty()) return;
  Status status = state_->describe(loaded.call, problem);
  if (status == success) status = state_->choose(loaded.call, loaded.handle);
  if (status != success) {
    state_->reason = "cuBLASLt has no algorithm for the product, status " + std::to_string(status);
    return;
  }
  state_->workspace = Array<unsigned char>(device, workspace_size);
}

CublasLt::~CublasLt() = default;
CublasLt::CublasLt(CublasLt&&) noexcept = default;

const std::string& CublasLt::reason() const { return state_->reason; }

void CublasLt::multiply(const void* a, const void* b, void* c, float scale, Stream stream) {
  if (!state_->reason.empty()) throw Unsupported(state_->reason);
  const Library& loaded = library();
  const float zero = 0;
  const Status status =
      loaded.call.matmul(loaded.handle, state_->desc, &scale, b, state_->b, a, state_->a, &zero, c,
                         state_->c, c, state_->c, &state_->algorithm,
                         state_->workspace.view().address, workspace_size, stream.handle);
  if (status != success)
    throw LaunchError("cublasLtMatmul returned status " + std::to_string(status));
}

}  // namespace kvsim::kernels
