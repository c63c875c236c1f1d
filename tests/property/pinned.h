#pragma once
#include <rapidcheck.h>

#include <cstdlib>

// RapidCheck with a fixed seed, so that a property fails for everybody or for nobody. Another seed:
// RC_PARAMS="seed=7 max_success=1000" test_property.
namespace kvsim::property {

inline const bool pinned = ::setenv("RC_PARAMS", "seed=20260 max_success=100", 0) == 0;

}  // namespace kvsim::property

// A property as a doctest check: prints the smallest counterexample when there is one.
#define KVSIM_PROPERTY(text, ...) CHECK(::rc::check(text, __VA_ARGS__))
