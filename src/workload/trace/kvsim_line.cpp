#include "workload/trace/kvsim_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/document.h"
#include "diag/suggest.h"

namespace kvsim::workload {
namespace {

using config::Kind;
using config::Value;

const std::array<std::string, 11> keys{"id",         "arrival_s", "prompt", "output_tokens",
                                       "max_tokens", "priority",  "salt",   "adapter",
                                       "session",    "after",     "think_s"};

class LineReader {
 public:
  LineReader(KvsimLine& line, std::vector<Diagnostic>& problems)
      : line_(line), problems_(problems) {}

  void read(const Value& root) {
    if (!root.is_object())
      return add(root.diagnostic(
          "wrong-type", fmt::format("expected a request (an object), found {}", root.describe())));
    for (std::size_t i = 0; i < root.size(); ++i)
      if (std::ranges::find(keys, root.key(i)) == keys.end())
        add(root.at(i).key_diagnostic(
            "unknown-key", fmt::format("unknown key {}", config::json_string(root.key(i))),
            suggestion(root.key(i), keys)));
    read_names(root);
    read_times(root);
    read_lengths(root);
    read_prompt(root);
  }

 private:
  void add(Diagnostic d) { problems_.push_back(std::move(d)); }
  void missing(const Value& root, std::string_view key, std::string_view what) {
    add(root.diagnostic("missing-field",
                        fmt::format("required field \"{}\" is missing: {}", key, what)));
  }
  void mismatch(const Value& v, std::string_view name, std::string_view wanted) {
    add(v.diagnostic("wrong-type",
                     fmt::format("{}: expected {}, found {}", name, wanted, v.describe())));
  }

  // A name is a string that is not empty; answers whether there was one.
  bool name(const Value& root, std::string_view key, std::string& target) {
    const Value v = root.find(key);
    target.clear();
    if (!v.exists() || v.is_null()) return false;
    if (!v.is_string() || v.string().empty())
      return mismatch(v, key, "a name (a string that is not empty)"), true;
    target = v.string();
    return true;
  }
  bool integer(const Value& v, std::string_view what, std::int64_t low, std::int64_t high,
               std::int64_t& target) {
    if (v.kind() != Kind::integer && !v.is_oversized_integer())
      return mismatch(v, what, "a whole number"), false;
    if (v.is_oversized_integer() || v.integer() < low || v.integer() > high)
      return add(v.diagnostic("out-of-range", fmt::format("{} must be from {} up to {}, found {}",
                                                          what, low, high, v.describe()))),
             false;
    target = v.integer();
    return true;
  }
  bool seconds(const Value& root, std::string_view key, Duration& target) {
    const Value v = root.find(key);
    target = Duration(0);
    if (!v.exists() || v.is_null()) return false;
    if (v.kind() != Kind::integer && v.kind() != Kind::number)
      return mismatch(v, key, "a number of seconds"), true;
    if (!(v.number() >= 0 && v.number() <= max_trace_seconds))
      return add(v.diagnostic(
                 "out-of-range",
                 fmt::format("{} must be from 0 up to 1e9 seconds, found {}", key, v.describe()))),
             true;
    target = to_duration(v.number());
    return true;
  }

  void read_names(const Value& root) {
    if (!name(root, "id", line_.names[0]))
      missing(root, "id", "the request's name, unlike all others in the file");
    name(root, "session", line_.names[1]);
    line_.has_after = name(root, "after", line_.names[2]);
    line_.id = line_.names[0], line_.session = line_.names[1], line_.after = line_.names[2];
    line_.id_column = column(root, "id"), line_.after_column = column(root, "after");
    std::string salt;
    line_.salt = name(root, "salt", salt) && !salt.empty() ? content_id(salt) : 0;
    line_.adapter = name(root, "adapter", salt) && !salt.empty() ? content_id(salt) : 0;
  }
  static int column(const Value& root, std::string_view key) {
    const Value v = root.find(key);
    return v.exists() ? v.diagnostic("", "").column : 1;
  }

  void read_times(const Value& root) {
    Duration arrival;
    if (!seconds(root, "arrival_s", arrival) && !line_.has_after)
      missing(root, "arrival_s",
              "seconds from the start (only a request with \"after\" may lack it)");
    line_.arrival = Time(arrival.value());
    line_.arrival_column = column(root, "arrival_s");
    if (seconds(root, "think_s", line_.think) && !line_.has_after)
      add(root.find("think_s").key_diagnostic(
          "trace-think", "think_s without \"after\": a pause needs something before it"));
    line_.priority = 0;
    if (const Value v = root.find("priority"); v.exists())
      integer(v, "priority", INT32_MIN, INT32_MAX, line_.priority);
  }

  void read_lengths(const Value& root) {
    const Value output = root.find("output_tokens"), max = root.find("max_tokens");
    line_.output_tokens = line_.max_tokens = 1;
    if (!output.exists() && !max.exists())
      return missing(
          root, "output_tokens",
          "tokens the request makes (or give max_tokens alone: it then makes that many)");
    if (output.exists())
      integer(output, "output_tokens", 1, max_request_tokens, line_.output_tokens);
    if (max.exists()) integer(max, "max_tokens", 1, max_request_tokens, line_.max_tokens);
    if (!output.exists()) line_.output_tokens = line_.max_tokens;
    if (!max.exists()) line_.max_tokens = line_.output_tokens;
  }

  void read_prompt(const Value& root) {
    line_.prompt.clear(), line_.prompt_tokens = 0;
    const Value prompt = root.find("prompt");
    if (!prompt.exists())
      return missing(root, "prompt",
                     "a list of spans [content, length] or [content, length, offset]");
    if (!prompt.is_array() || prompt.size() == 0)
      return mismatch(prompt, "prompt",
                      "a list of at least one span [content, length] or [content, length, offset]");
    for (std::size_t i = 0; i < prompt.size(); ++i) {
      read_span(prompt.at(i));
      if (line_.prompt_tokens > max_request_tokens)
        return add(prompt.diagnostic(
            "out-of-range", fmt::format("a prompt of over {} tokens", max_request_tokens)));
    }
  }
  void read_span(const Value& v) {
    if (!v.is_array() || v.size() < 2 || v.size() > 3)
      return mismatch(v, "span",
                      v.is_array() && v.size() == 1
                          ? "[content, length]: the length is missing"
                          : "[content, length] or [content, length, offset]");
    const Value content = v.at(0);
    Span span;
    bool good = content.is_string() && !content.string().empty();
    if (!good) mismatch(content, "content of a span", "a name (a string that is not empty)");
    good &= integer(v.at(1), "length of a span", 1, max_request_tokens, span.length);
    if (v.size() == 3)
      good &= integer(v.at(2), "offset of a span", 0, max_request_tokens, span.offset);
    if (!good) return;
    span.content = content_id(content.string());
    line_.prompt_tokens += span.length;
    append_span(line_.prompt, span);
  }

  KvsimLine& line_;
  std::vector<Diagnostic>& problems_;
};

}  // namespace

bool read_kvsim_line(const Lines& lines, std::string_view text, KvsimLine& line,
                     std::vector<Diagnostic>& problems) {
  const std::size_t before = problems.size();
  try {
    const auto document =
        config::Document::parse_line(std::string(text), lines.name(), lines.number());
    LineReader(line, problems).read(document.root());
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) problems.push_back(d);
  }
  return problems.size() == before;
}

}  // namespace kvsim::workload
