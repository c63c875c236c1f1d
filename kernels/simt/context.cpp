#include "kernels/simt/context.h"

#include <cstdint>

#if defined(__x86_64__) && !defined(KVSIM_SIMT_BOOST_CONTEXT)

// The last instruction is a jump: a return would go against the processor's prediction every time.
asm(R"(
.text
.globl kvsim_simt_switch
.type kvsim_simt_switch, @function
kvsim_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.size kvsim_simt_switch, .-kvsim_simt_switch
)");

namespace kvsim::simt {

Context make_context(void* top, std::size_t, void (*entry)()) {
  auto* words = static_cast<std::uintptr_t*>(top);
  *--words = 0;  // where entry() would return to: the end of every backtrace
  *--words = reinterpret_cast<std::uintptr_t>(entry);
  for (int saved = 0; saved < 6; ++saved) *--words = 0;
  return words;
}

}  // namespace kvsim::simt

#else

#include <boost/context/detail/fcontext.hpp>

namespace kvsim::simt {
namespace {

namespace boost_context = boost::context::detail;

// Whoever is switched to stores where the other stack stopped.
void arrive(boost_context::transfer_t from) { *static_cast<Context*>(from.data) = from.fctx; }

thread_local void (*first_entry)() = nullptr;

}  // namespace

Context make_context(void* top, std::size_t bytes, void (*entry)()) {
  first_entry = entry;
  return boost_context::make_fcontext(top, bytes, [](boost_context::transfer_t from) {
    arrive(from);
    first_entry();
  });
}

void switch_context(Context& from, Context to) { arrive(boost_context::jump_fcontext(to, &from)); }

}  // namespace kvsim::simt

#endif
