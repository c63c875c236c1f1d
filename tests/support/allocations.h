#pragma once
#include <cstddef>

// Counts the calls of operator new in this program. Linked into every test program through
// support/allocations.cpp; counting costs one thread-local increment.
namespace kvsim::testing {

// Allocations made by this thread so far.
std::size_t allocations();

}  // namespace kvsim::testing
