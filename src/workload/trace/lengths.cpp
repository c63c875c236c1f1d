#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/document.h"
#include "workload/io/items.h"
#include "workload/trace/formats.h"
#include "workload/trace/kvsim_line.h"
#include "workload/trace/rows.h"

namespace kvsim::workload {
namespace {

using config::Kind;
using config::Value;

constexpr std::array<std::string_view, 5> input_names{"input_tokens", "input_len", "input_length",
                                                      "prompt_tokens", "prompt_len"};
constexpr std::array<std::string_view, 6> output_names{"output_tokens",  "output_len",
                                                       "output_length",  "completion_tokens",
                                                       "completion_len", "response_tokens"};

class LengthRows final : public RowReader {
 public:
  explicit LengthRows(std::unique_ptr<Lines> lines) : items_(std::move(lines)) {}

  bool read(TraceRow& row, std::vector<Diagnostic>& problems) override {
    std::string item;
    int line = 0;
    if (!items_.next(item, line)) return false;
    try {
      const auto document = config::Document::parse_line(std::move(item), name(), line);
      parse(document.root(), row, problems);
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) problems.push_back(d);
    }
    return true;
  }
  const std::string& name() const override { return items_.lines().name(); }
  Diagnostic here(std::string code, std::string message) const override {
    return items_.lines().at(std::move(code), std::move(message));
  }

 private:
  static void parse(const Value& root, TraceRow& row, std::vector<Diagnostic>& problems) {
    if (root.is_array() && root.size() == 2) {
      integer(root.at(0), "input tokens", row.input_tokens, problems);
      integer(root.at(1), "output tokens", row.output_tokens, problems);
    } else if (root.is_object()) {
      const std::string_view input =
          member(root, input_names, "input tokens", row.input_tokens, problems);
      const std::string_view output =
          member(root, output_names, "output tokens", row.output_tokens, problems);
      for (std::size_t i = 0; i < root.size(); ++i)
        if (root.key(i) != input && root.key(i) != output)
          problems.push_back(root.at(i).key_diagnostic(
              "unknown-key", fmt::format("a pair of lengths has no place for {}",
                                         config::json_string(root.key(i)))));
    } else {
      problems.push_back(root.diagnostic(
          "wrong-type", fmt::format("expected [input, output] or an object with both, found {}",
                                    root.describe())));
    }
  }
  template <std::size_t n>
  static std::string_view member(const Value& root, const std::array<std::string_view, n>& names,
                                 const char* what, std::int64_t& target,
                                 std::vector<Diagnostic>& problems) {
    for (const std::string_view name : names) {
      const Value v = root.find(name);
      if (!v.exists()) continue;
      integer(v, what, target, problems);
      return name;
    }
    problems.push_back(root.diagnostic("missing-field", fmt::format("no {} here", what),
                                       fmt::format("expected one of {}", fmt::join(names, ", "))));
    return {};
  }
  static void integer(const Value& v, const char* what, std::int64_t& target,
                      std::vector<Diagnostic>& problems) {
    if (v.kind() != Kind::integer && !v.is_oversized_integer())
      return problems.push_back(v.diagnostic(
          "wrong-type", fmt::format("{}: expected a whole number, found {}", what, v.describe())));
    if (v.is_oversized_integer() || v.integer() < 1 || v.integer() > max_request_tokens)
      return problems.push_back(
          v.diagnostic("out-of-range", fmt::format("{} must be from 1 up to {}, found {}", what,
                                                   max_request_tokens, v.describe())));
    target = v.integer();
  }

  JsonItems items_;
};

}  // namespace

// `[1, 2]`, `[[1, 2], ...]` or an object with a name for each of the two lengths.
bool recognises_lengths(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (head[first] == '[') {
    const auto second = head.find_first_not_of(" \t\r\n", first + 1);
    if (second == std::string_view::npos) return false;
    if (head[second] != '{') return true;
    head = head.substr(second, head.find('}', second) - second);
  } else if (head[first] != '{') {
    return false;
  } else {
    head = head.substr(first, head.find('}', first) - first);
  }
  const auto names_one = [&](const auto& names) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return head.find(fmt::format("\"{}\"", name)) != std::string_view::npos;
    });
  };
  return names_one(input_names) && names_one(output_names);
}

Trace open_lengths(std::unique_ptr<Lines> lines, const TraceOptions& options) {
  return stream_trace(std::make_unique<LengthRows>(std::move(lines)), options, "lengths", false,
                      false);
}

}  // namespace kvsim::workload
