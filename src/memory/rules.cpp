#include "memory/rules.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "diag/diagnostic.h"
#include "diag/suggest.h"
#include "units/parse.h"

namespace kvsim::memory {
namespace {

// Newest first within an engine. Sources: vLLM's own log line names 0.21 for the graph estimate;
// printed tokens and page unification from public start-up reports
// (docs/explanation/memory-ledger.md).
constexpr std::array table{
    Rules{Engine::vllm_v1, "vllm-v1 >= 0.21", "0.21", "2026-05-15", true, 0.92, true, true, true,
          true, true},
    Rules{Engine::vllm_v1, "vllm-v1 0.20", "0.20", "2026-04-27", false, 0.90, true, true, false,
          true, false},
    Rules{Engine::vllm_v1, "vllm-v1 0.9.2 to 0.19", "0.9.2", "2025-07-07", false, 0.90, false, true,
          false, false, false},
    Rules{Engine::vllm_v1, "vllm-v1 0.8 to 0.9.1", "0.8", "2025-03-18", false, 0.90, false, false,
          false, false, false},
    Rules{Engine::sglang, "sglang >= 0.4", "0.4", "2024-12-04", false, 0.0, false, false, false,
          false, false},
    Rules{Engine::trtllm, "trtllm >= 0.9", "0.9", "2024-04-16", false, 0.90, false, false, false,
          false, false},
    Rules{Engine::static_batching, "static", "0", "0000-00-00", false, 0.90, false, false, false,
          false, false},
    Rules{Engine::llamacpp, "llamacpp >= b3000", "3000", "2024-05-26", false, 1.0, false, false,
          false, false, false},
};

bool is_date(std::string_view t) {
  if (t.size() != 10 || t[4] != '-' || t[7] != '-') return false;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (i != 4 && i != 7 && (t[i] < '0' || t[i] > '9')) return false;
  const int month = (t[5] - '0') * 10 + (t[6] - '0'), day = (t[8] - '0') * 10 + (t[9] - '0');
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

// The leading numeric parts: "v0.20.1rc1.dev16" is {0, 20, 1}, "b4500" is {4500}.
std::optional<std::vector<std::int64_t>> numbers(std::string_view t) {
  if (!t.empty() && (t[0] == 'v' || t[0] == 'b')) t.remove_prefix(1);
  std::vector<std::int64_t> parts;
  while (!t.empty()) {
    const std::size_t digits = std::min(t.find_first_not_of("0123456789"), t.size());
    if (digits == 0 || digits > 9) return std::nullopt;
    parts.push_back(*parse_integer(t.substr(0, digits)));
    t.remove_prefix(digits);
    if (t.empty()) break;
    if (t[0] != '.' || t.size() == 1 || t[1] < '0' || t[1] > '9') {
      const bool suffix = t.substr(0, 2) == "rc" || t.substr(0, 4) == "post" || t[0] == '+' ||
                          t.substr(0, 4) == ".dev" || t.substr(0, 5) == ".post" || t[0] == 'a' ||
                          t[0] == 'b';
      return suffix ? std::optional(parts) : std::nullopt;
    }
    t.remove_prefix(1);
  }
  if (parts.empty()) return std::nullopt;
  return parts;
}

bool older(const std::vector<std::int64_t>& a, std::vector<std::int64_t> b) {
  b.resize(std::max(a.size(), b.size()), 0);
  std::vector<std::int64_t> padded = a;
  padded.resize(b.size(), 0);
  return std::lexicographical_compare(padded.begin(), padded.end(), b.begin(), b.end());
}

[[noreturn]] void refuse(Engine engine, std::string_view version, std::string_view why) {
  std::string ranges;
  for (const Rules* r : rules_of(engine)) {
    if (!ranges.empty()) ranges += ", ";
    ranges += std::string(r->label) + " (from " + std::string(r->first_date) + ")";
  }
  throw InputError(
      {.code = "engine-version",
       .message = "engine version \"" + std::string(version) + "\" of " +
                  std::string(name(engine)) + " " + std::string(why),
       .hint = "known ranges: " + ranges + "; give a version or a date such as 2026-08-17"});
}

}  // namespace

Engine parse_engine(std::string_view text) {
  for (std::size_t i = 0; i < engine_names.size(); ++i)
    if (engine_names[i] == text) return static_cast<Engine>(i);
  throw InputError({.code = "engine-unknown",
                    .message = "unknown engine \"" + std::string(text) + "\"",
                    .hint = suggestion(
                        text, std::vector<std::string>(engine_names.begin(), engine_names.end()))});
}

std::vector<const Rules*> rules_of(Engine engine) {
  std::vector<const Rules*> list;
  for (const Rules& r : table)
    if (r.engine == engine) list.push_back(&r);
  return list;
}

const Rules& resolve_rules(Engine engine, std::string_view version) {
  const auto ranges = rules_of(engine);
  if (version.empty()) return *ranges.front();
  const auto asked = numbers(version);
  if (!is_date(version) && !asked) refuse(engine, version, "cannot be read");
  for (const Rules* r : ranges)
    if (is_date(version) ? version >= r->first_date : !older(*asked, *numbers(r->first_version)))
      return *r;
  refuse(engine, version, "is older than the first range");
}

}  // namespace kvsim::memory
