#pragma once
#include <string_view>

#include "config/document.h"

namespace kvsim::testing {

// The value at an RFC 6901 pointer below `root`; exists() is false when there is none.
config::Value at_pointer(config::Value root, std::string_view pointer);

}  // namespace kvsim::testing
