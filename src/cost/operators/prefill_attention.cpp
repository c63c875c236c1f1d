#include "cost/operators/form.h"

namespace kvsim::cost {

std::span<const Form> prefill_attention_forms() { return {}; }

}  // namespace kvsim::cost
