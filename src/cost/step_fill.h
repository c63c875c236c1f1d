#pragma once
#include <array>
#include <cstdint>

#include "cost/step_shape.h"
#include "spec/model_spec.h"

namespace kvsim::cost {

// Adds requests to a StepShape by the read rule of each layer group: whole context, window, chunk,
// the top-k of an indexer, or compressed entries. Holds plain numbers; made once per engine.
class StepFill {
 public:
  explicit StepFill(const spec::ModelSpec& model);

  // A request with `context` tokens before the step that computes `queries` tokens (1, or a
  // speculative verify) and samples `rows`.
  void add_decode(StepShape& shape, std::int64_t context, std::int64_t queries = 1,
                  std::int64_t rows = 1) const;
  // The same for `count` requests with one query and one row each, whose contexts add up to
  // `contexts`. Requires linear(): no group reads less than everything.
  void add_decodes(StepShape& shape, std::int64_t count, std::int64_t contexts) const;
  bool linear() const { return linear_; }
  // A prefill chunk of `queries` tokens after `context` computed ones. `rows` is 1 when it ends the
  // prompt.
  void add_chunk(StepShape& shape, std::int64_t context, std::int64_t queries,
                 std::int64_t rows) const;

 private:
  enum class Rule { nothing, all, window, chunk, compressed };
  struct Group {
    Rule rule = Rule::nothing;
    std::int64_t limit = 0;        // window, chunk, or top-k of an indexer
    std::int64_t ratio = 1;        // compressed: tokens per entry
    std::int64_t entry_limit = 0;  // compressed: entries attended, 0 = all
  };
  struct Reads {
    double pairs = 0, tokens = 0;
  };
  static std::int64_t attended(const Group& g, std::int64_t n);
  static Reads reads(const Group& g, std::int64_t context, std::int64_t queries);

  int count_ = 0;
  bool linear_ = true;
  std::array<Group, max_groups> groups_{};
};

// Steps with `batch` equal decodes at `context` tokens, and one whole prompt.
StepShape decode_shape(const spec::ModelSpec& model, std::int64_t context, std::int64_t batch);
StepShape prefill_shape(const spec::ModelSpec& model, std::int64_t tokens,
                        std::int64_t requests = 1);

}  // namespace kvsim::cost
