#pragma once
#include <cstddef>

// Switching between stacks: six registers on x86-64, Boost.Context elsewhere. Rounding modes and
// signal masks are not switched; kernels change neither.
namespace kvsim::simt {

// A stack that does not run. Valid until it is switched to.
using Context = void*;

// A context that calls entry() on the stack that ends at `top`, a multiple of 16. entry() must not
// return.
Context make_context(void* top, std::size_t bytes, void (*entry)());

}  // namespace kvsim::simt

#if defined(__x86_64__) && !defined(KVSIM_SIMT_BOOST_CONTEXT)

extern "C" void kvsim_simt_switch(void** from, void* to);

namespace kvsim::simt {

// Leaves this stack, whose context goes to `from`, for `to`. Returns when `from` is switched to.
inline void switch_context(Context& from, Context to) { kvsim_simt_switch(&from, to); }

}  // namespace kvsim::simt

#else

namespace kvsim::simt {

void switch_context(Context& from, Context to);

}  // namespace kvsim::simt

#endif
