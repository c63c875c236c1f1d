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
// printed tokens, page unification and the peaks of the profile run from public start-up reports;
// release dates of 0.17, 0.20 and 0.21 are bracketed by dated reports
// (docs/explanation/memory-ledger.md).
constexpr Rules vllm(std::string_view label, std::string_view version, std::string_view date) {
  Rules r;
  r.label = label, r.first_version = version, r.first_date = date;
  return r;
}
// Before V1 a block count was printed, and prompts ran whole.
constexpr Rules vllm_v0(std::string_view label, std::string_view version, std::string_view date) {
  Rules r = vllm(label, version, date);
  r.v1 = false, r.whole_prompts = true;
  return r;
}
constexpr Rules other(Engine engine, std::string_view label, std::string_view version,
                      std::string_view date, double fraction) {
  Rules r = vllm(label, version, date);
  r.engine = engine, r.default_utilization = fraction, r.logit_bytes = 15;
  return r;
}

constexpr auto make_table() {
  Rules v021 = vllm("vllm-v1 >= 0.21", "0.21", "2026-05-15");
  v021.default_utilization = 0.92, v021.graphs_in_budget = true, v021.logit_bytes = 15;
  v021.graph_mib = 0.08;
  v021.tokens_by_concurrency = v021.concurrency_by_blocks = v021.pages_unified = true;
  v021.state_prefix_caching = v021.overlapped_batches = true;
  Rules v020 = v021;
  v020.label = "vllm-v1 0.20", v020.first_version = "0.20", v020.first_date = "2026-04-27";
  v020.default_utilization = 0.90, v020.graphs_in_budget = v020.pages_unified = false;
  v020.overlapped_batches = false, v020.graph_mib = 0.29;
  Rules v017 = vllm("vllm-v1 0.17 to 0.19", "0.17", "2026-03-07");
  v017.logit_bytes = 15, v017.concurrency_by_blocks = true;
  Rules v092 = vllm("vllm-v1 0.9.2 to 0.16", "0.9.2", "2025-07-07");
  v092.concurrency_by_blocks = true;
  const Rules v08 = vllm("vllm-v1 0.8 to 0.9.1", "0.8", "2025-03-18");
  Rules v07 = vllm_v0("vllm 0.7 (V0)", "0.7", "2025-01-27");
  v07.chunked_above = 32768, v07.chunked_tokens = 2048;
  Rules v064 = v07;
  v064.label = "vllm 0.6.4 to 0.6.6 (V0)", v064.first_version = "0.6.4";
  v064.first_date = "2024-11-15", v064.counts_context = true;
  Rules v055 = vllm_v0("vllm 0.5.5 to 0.6.3 (V0)", "0.5.5", "2024-08-23");
  v055.chunked_above = 32768, v055.chunked_tokens = 512, v055.by_free_memory = true;
  Rules v026 = vllm_v0("vllm 0.2.6 to 0.5.4 (V0)", "0.2.6", "2023-12-17");
  v026.by_free_memory = v026.dequantises_weights = true;
  Rules v02 = vllm_v0("vllm 0.2 to 0.2.5 (V0)", "0.2", "2023-09-28");
  v02.counts_non_torch = false, v02.dequantises_weights = true;
  return std::array{
      v021,
      v020,
      v017,
      v092,
      v08,
      v07,
      v064,
      v055,
      v026,
      v02,
      other(Engine::sglang, "sglang >= 0.4", "0.4", "2024-12-04", 0.0),
      other(Engine::trtllm, "trtllm >= 0.9", "0.9", "2024-04-16", 0.90),
      other(Engine::static_batching, "static", "0", "0000-00-00", 0.90),
      other(Engine::llamacpp, "llamacpp >= b3000", "3000", "2024-05-26", 1.0),
  };
}
constexpr auto table = make_table();

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
