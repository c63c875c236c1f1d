#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/host/device.h"

namespace kvsim::kernels {

// A product as gemm.h states it: C[m][n] = scale * A[m][k] B[n][k]^T, factors of bf16 (2 bytes) or
// E4M3 (1 byte), C in bf16, sums in f32.
struct CublasLtProblem {
  int bytes_per_element = 2;
  std::int64_t m = 0, n = 0, k = 0;
};

// NVIDIA's library, loaded when the first object is made: a program runs without it. Workspace and
// algorithm (the library's first proposal) are chosen here, so that multiply() only queues.
class CublasLt {
 public:
  CublasLt(Device& device, const CublasLtProblem& problem);
  ~CublasLt();
  CublasLt(CublasLt&&) noexcept;
  CublasLt& operator=(CublasLt&&) = delete;

  // "" or why multiply() cannot run: no library, or a product that it does not know.
  const std::string& reason() const;
  // Throws Unsupported with the reason, LaunchError where the library fails.
  void multiply(const void* a, const void* b, void* c, float scale, Stream stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kvsim::kernels
