#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/document.h"
#include "diag/suggest.h"
#include "random/stream.h"
#include "workload/trace/formats.h"
#include "workload/trace/kvsim_line.h"
#include "workload/trace/rows.h"

namespace kvsim::workload {
namespace {

using config::Kind;
using config::Value;

const std::array<std::string, 6> keys{"timestamp", "input_length", "output_length",
                                      "hash_ids",  "session_id",   "priority"};

class MooncakeRows final : public RowReader {
 public:
  MooncakeRows(std::unique_ptr<Lines> lines, std::int64_t block)
      : lines_(std::move(lines)), block_(block) {}

  bool read(TraceRow& row, std::vector<Diagnostic>& problems) override {
    std::string_view text;
    do {
      if (!lines_->next(text)) return false;
    } while (text.find_first_not_of(" \t") == std::string_view::npos);
    try {
      const auto document =
          config::Document::parse_line(std::string(text), lines_->name(), lines_->number());
      parse(document.root(), row, problems);
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) problems.push_back(d);
    }
    return true;
  }
  const std::string& name() const override { return lines_->name(); }
  Diagnostic here(std::string code, std::string message) const override {
    return lines_->at(std::move(code), std::move(message));
  }

 private:
  void parse(const Value& root, TraceRow& row, std::vector<Diagnostic>& problems) {
    if (!root.is_object())
      return problems.push_back(root.diagnostic(
          "wrong-type", fmt::format("expected a request (an object), found {}", root.describe())));
    for (std::size_t i = 0; i < root.size(); ++i)
      if (std::ranges::find(keys, root.key(i)) == keys.end())
        problems.push_back(root.at(i).key_diagnostic(
            "unknown-key", fmt::format("unknown key {}", config::json_string(root.key(i))),
            suggestion(root.key(i), keys)));
    const std::size_t before = problems.size();
    read_time(root, row, problems);
    read_integer(root, "input_length", 1, max_request_tokens, true, row.input_tokens, problems);
    read_integer(root, "output_length", 1, max_request_tokens, true, row.output_tokens, problems);
    row.priority = 0;
    read_integer(root, "priority", INT32_MIN, INT32_MAX, false, row.priority, problems);
    row.session.clear();
    if (const Value session = root.find("session_id"); session.exists()) {
      if (session.is_string())
        row.session = session.string();
      else if (session.kind() == Kind::integer)
        row.session = session.json();
      else
        problems.push_back(session.diagnostic(
            "wrong-type",
            fmt::format("session_id: expected a name, found {}", session.describe())));
    }
    if (problems.size() == before) read_blocks(root, row, problems);
  }

  // Milliseconds, whole or not.
  void read_time(const Value& root, TraceRow& row, std::vector<Diagnostic>& problems) {
    const Value v = root.find("timestamp");
    if (!v.exists()) return missing(root, "timestamp", "milliseconds from the start", problems);
    if (v.kind() != Kind::integer && v.kind() != Kind::number)
      return problems.push_back(v.diagnostic(
          "wrong-type", fmt::format("timestamp: expected milliseconds, found {}", v.describe())));
    if (!(v.number() >= 0 && v.number() <= max_trace_seconds * 1e3))
      return problems.push_back(v.diagnostic(
          "out-of-range",
          fmt::format("timestamp must be from 0 up to 1e12 milliseconds, found {}", v.describe())));
    row.arrival = v.kind() == Kind::integer ? Time(v.integer() * 1'000'000)
                                            : Time(to_duration(v.number() / 1e3).value());
  }

  void read_blocks(const Value& root, TraceRow& row, std::vector<Diagnostic>& problems) {
    row.prompt.clear();
    const Value ids = root.find("hash_ids");
    if (!ids.exists()) return missing(root, "hash_ids", "one id per block of the prompt", problems);
    if (!ids.is_array())
      return problems.push_back(ids.diagnostic(
          "wrong-type", fmt::format("hash_ids: expected a list, found {}", ids.describe())));
    const std::int64_t blocks = ceil_div(row.input_tokens, block_);
    if (static_cast<std::int64_t>(ids.size()) != blocks)
      return problems.push_back(ids.diagnostic(
          "trace-blocks", fmt::format("{} hash ids for {} tokens: {} blocks of {} tokens need {}",
                                      ids.size(), row.input_tokens, blocks, block_, blocks)));
    std::int64_t left = row.input_tokens;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const Value id = ids.at(i);
      if (id.kind() != Kind::integer || id.integer() < 0)
        return problems.push_back(id.diagnostic(
            "wrong-type",
            fmt::format("hash id: expected a whole number from 0 on, found {}", id.describe())));
      append_span(row.prompt, {mooncake_content(static_cast<std::uint64_t>(id.integer())), 0,
                               std::min(left, block_)});
      left -= block_;
    }
  }

  static void missing(const Value& root, std::string_view key, std::string_view what,
                      std::vector<Diagnostic>& problems) {
    problems.push_back(root.diagnostic(
        "missing-field", fmt::format("required field \"{}\" is missing: {}", key, what)));
  }
  static void read_integer(const Value& root, std::string_view key, std::int64_t low,
                           std::int64_t high, bool required, std::int64_t& target,
                           std::vector<Diagnostic>& problems) {
    const Value v = root.find(key);
    if (!v.exists()) {
      if (required) missing(root, key, "a number of tokens", problems);
      return;
    }
    if (v.kind() != Kind::integer && !v.is_oversized_integer())
      return problems.push_back(v.diagnostic(
          "wrong-type", fmt::format("{}: expected a whole number, found {}", key, v.describe())));
    if (v.is_oversized_integer() || v.integer() < low || v.integer() > high)
      return problems.push_back(v.diagnostic(
          "out-of-range",
          fmt::format("{} must be from {} up to {}, found {}", key, low, high, v.describe())));
    target = v.integer();
  }

  std::unique_ptr<Lines> lines_;
  std::int64_t block_;
};

}  // namespace

std::uint64_t mooncake_content(std::uint64_t hash_id) {
  static const std::uint64_t base = content_id("mooncake");
  return random::mix(base, hash_id);
}

bool recognises_mooncake(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto has = [&](std::string_view key) { return line.find(key) != std::string_view::npos; };
  return has("\"hash_ids\"") || (has("\"timestamp\"") && has("\"input_length\""));
}

Trace open_mooncake(std::unique_ptr<Lines> lines, const TraceOptions& options) {
  auto rows = std::make_unique<MooncakeRows>(std::move(lines), options.block_tokens.value_or(512));
  return stream_trace(std::move(rows), options, "mooncake", true, true);
}

}  // namespace kvsim::workload
