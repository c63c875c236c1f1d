#pragma once
#include <string>

#include "conform/conformance.h"

namespace kvsim::report {

inline constexpr const char* conformance_schema = "kvsim.conformance/1";

// The document kvsim.conformance/1: counts by family and the first difference. Without paths.
std::string conformance_json(const conform::Conformance& conformance);

// A table of families, the differences that were kept, and what to do next.
std::string conformance_text(const conform::Conformance& conformance);

}  // namespace kvsim::report
