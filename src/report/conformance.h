#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "conform/conformance.h"

namespace kvsim::report {

inline constexpr std::string_view conformance_schema = "kvsim.conformance/1";

// The first case that differs from its recording.
struct FirstDifference {
  std::string family, case_id;
  std::int64_t at = 0;
  std::string field;
  config::RawValue expected{"null", {}, {}}, got{"null", {}, {}};  // any JSON value
  std::optional<std::string> reason;
};

// The document kvsim.conformance/1: counts by family and the first difference. Without paths.
struct ConformanceDocument {
  bool complete = true;
  std::int64_t cases = 0, matched = 0;
  std::vector<conform::FamilyResult> families;
  std::optional<FirstDifference> first_difference;
};
void fields(config::FieldVisitor& v, ConformanceDocument& document);

std::string conformance_json(const conform::Conformance& conformance);

// A table of families, the differences that were kept, and what to do next.
std::string conformance_text(const conform::Conformance& conformance);

}  // namespace kvsim::report
