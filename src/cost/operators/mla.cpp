#include "cost/operators/form.h"

namespace kvsim::cost {

std::span<const Form> mla_forms() { return {}; }

}  // namespace kvsim::cost
