#pragma once
#include <cstdint>
#include <string_view>

#include "memory/pool.h"

namespace kvsim::memory {

// What requests hold of one replica's pool, in the unit that the engine allocates: blocks (vLLM;
// the null block is nobody's), pages (SGLang; window layers' slots are a share of them), blocks
// (TensorRT-LLM, plain attention), cells (llama.cpp), slots of max_model_len (static), else bytes.
class Holding {
 public:
  explicit Holding(const Pool& pool);
  std::string_view unit() const { return unit_; }
  double capacity() const { return capacity_; }
  // Requests at most, whatever they hold (SGLang's state slots); 0 = no such limit.
  std::int64_t most_requests() const { return most_; }
  // Of one request that keeps `tokens` tokens.
  double need(std::int64_t tokens) const;
  // Requests of `tokens` tokens side by side.
  std::int64_t requests(std::int64_t tokens) const;

 private:
  const Pool& pool_;
  std::string_view unit_;
  double capacity_ = 0;
  std::int64_t most_ = 0;
  bool states_ = false;      // recurrent states have slots of their own
  std::int64_t window_ = 0;  // sglang: tokens that window layers keep
  bool full_ = true;         // some layers keep every token
};

}  // namespace kvsim::memory
