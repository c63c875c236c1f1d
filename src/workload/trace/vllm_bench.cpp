#include <fmt/format.h>

#include <algorithm>

#include "config/document.h"
#include "workload/request_list.h"
#include "workload/trace/formats.h"
#include "workload/trace/kvsim_line.h"

namespace kvsim::workload {
namespace {

using config::Kind;
using config::Value;

struct Entry {
  double start = 0;
  std::int64_t input = 0, output = 0;
};

// A RequestList with remarks.
class BenchSource final : public RequestSource {
 public:
  BenchSource(std::unique_ptr<RequestList> list, std::vector<std::string> notes)
      : list_(std::move(list)), notes_(std::move(notes)) {}
  bool next(RequestSpec& request) override { return list_->next(request); }
  std::int64_t remaining() const override { return list_->remaining(); }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  std::unique_ptr<RequestList> list_;
  std::vector<std::string> notes_;
};

class BenchReader {
 public:
  explicit BenchReader(const Value& root) : root_(root) {}

  // The requests that got an answer, in order of start.
  std::vector<Entry> read() {
    std::vector<Entry> entries;
    const Value input = array("input_lens"), output = array("output_lens"),
                start = array("start_times");
    if (problems.empty() && (output.size() != input.size() || start.size() != input.size()))
      problems.push_back(root_.diagnostic(
          "trace-arrays", fmt::format("input_lens, output_lens and start_times have {}, {} and {} "
                                      "entries: they must have as many",
                                      input.size(), output.size(), start.size())));
    if (!problems.empty()) return {};
    for (std::size_t i = 0; i < input.size(); ++i) {
      Entry entry;
      const bool input_good = integer(input.at(i), 1, entry.input);
      const bool output_good = integer(output.at(i), 0, entry.output);
      const bool good = number(start.at(i), entry.start) && input_good && output_good;
      if (good && entry.output == 0)
        ++failed;
      else if (good)
        entries.push_back(entry);
      if (problems.size() >= 20) return {};
    }
    std::ranges::stable_sort(entries, {}, &Entry::start);
    return entries;
  }
  std::vector<Diagnostic> problems;
  std::int64_t failed = 0;

 private:
  Value array(const char* key) {
    const Value v = root_.find(key);
    if (!v.exists())
      problems.push_back(root_.diagnostic("missing-field",
                                          fmt::format("required field \"{}\" is missing", key),
                                          "run `vllm bench serve` with --save-detailed"));
    else if (!v.is_array())
      problems.push_back(v.diagnostic(
          "wrong-type", fmt::format("{}: expected a list, found {}", key, v.describe())));
    return v;
  }
  bool integer(const Value& v, std::int64_t low, std::int64_t& target) {
    if (v.kind() == Kind::integer && v.integer() >= low && v.integer() <= max_request_tokens)
      return target = v.integer(), true;
    problems.push_back(
        v.diagnostic("out-of-range", fmt::format("expected tokens from {} up to {}, found {}", low,
                                                 max_request_tokens, v.describe())));
    return false;
  }
  bool number(const Value& v, double& target) {
    if (v.kind() == Kind::integer || v.kind() == Kind::number) return target = v.number(), true;
    problems.push_back(v.diagnostic(
        "wrong-type", fmt::format("expected a time in seconds, found {}", v.describe())));
    return false;
  }
  Value root_;
};

}  // namespace

bool recognises_vllm_bench(std::string_view head) {
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return false;
  for (const std::string_view key :
       {"\"input_lens\"", "\"request_throughput\"", "\"total_input_tokens\"", "\"endpoint_type\""})
    if (head.find(key) != std::string_view::npos) return true;
  return false;
}

Trace open_vllm_bench(std::unique_ptr<Lines> lines, const TraceOptions& options) {
  std::string text;
  for (std::string_view line; lines->next(line);) text.append(line), text += '\n';
  const auto document = config::Document::parse(std::move(text), lines->name());
  const Value root = document.root();
  if (!root.is_object())
    throw InputError(root.diagnostic(
        "wrong-type", fmt::format("expected a result of vllm bench serve (an object), found {}",
                                  root.describe())));
  BenchReader reader(root);
  const std::vector<Entry> entries = reader.read();
  if (reader.problems.empty() && !entries.empty() &&
      entries.back().start - entries.front().start > max_trace_seconds)
    reader.problems.push_back(
        root.find("start_times")
            .diagnostic("out-of-range", "the start times are over 1e9 seconds apart"));
  if (!reader.problems.empty()) throw InputError(std::move(reader.problems));

  auto list = std::make_unique<RequestList>();
  RequestSpec spec;
  for (const Entry& entry : entries) {
    spec.id = fmt::format("r{}", list->size());
    spec.arrival = Time(to_duration(entry.start - entries.front().start).value());
    spec.prompt.assign(1, {content_id(spec.id), 0, entry.input});
    spec.prompt_tokens = entry.input, spec.output_tokens = spec.max_tokens = entry.output;
    list->add(spec);
  }
  if (list->size() > 0) list->select(options.slice);
  if (list->size() == 0) no_requests(lines->name(), options);
  list->link();
  std::vector<std::string> notes{
      "the trace has no prefix ids: no two prompts share a prefix (no sharing)"};
  if (reader.failed > 0)
    notes.push_back(fmt::format(
        "{} requests without output were left out: they failed when the trace was recorded",
        reader.failed));
  return {std::make_unique<BenchSource>(std::move(list), std::move(notes)), "vllm-bench", true,
          false};
}

}  // namespace kvsim::workload
