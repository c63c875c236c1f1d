#pragma once
#include <cstdint>
#include <string_view>

#include "memory/pool.h"

namespace kvsim::planner {

// What requests hold of one replica's pool, in the unit that the engine allocates: blocks (vLLM;
// the null block is nobody's), pages or blocks (SGLang, TensorRT-LLM, plain attention), cells
// (llama.cpp), slots of max_model_len (static), else bytes.
class Holding {
 public:
  explicit Holding(const memory::Pool& pool);
  std::string_view unit() const { return unit_; }
  double capacity() const { return capacity_; }
  // Requests at most, whatever they hold (SGLang's state slots); 0 = no such limit.
  std::int64_t most_requests() const { return most_; }
  // Of one request that keeps `tokens` tokens.
  double need(std::int64_t tokens) const;
  // Requests of `tokens` tokens side by side.
  std::int64_t requests(std::int64_t tokens) const;

 private:
  const memory::Pool& pool_;
  std::string_view unit_;
  double capacity_ = 0;
  double state_bytes_ = 0;  // kept in a pool of their own
  std::int64_t most_ = 0;
};

}  // namespace kvsim::planner
