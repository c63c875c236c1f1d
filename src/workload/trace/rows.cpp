#include "workload/trace/rows.h"

#include <fmt/format.h>

#include <utility>

namespace kvsim::workload {
namespace {

constexpr std::size_t enough_problems = 20;

class RowSource final : public RequestSource {
 public:
  RowSource(std::unique_ptr<RowReader> reader, const TraceOptions& options, bool has_sharing)
      : reader_(std::move(reader)), slice_(options.slice), has_sharing_(has_sharing) {
    if (!advance()) no_requests(reader_->name(), options);
  }

  bool next(RequestSpec& request) override {
    if (!pending_) return false;
    request.index = taken_ - 1;
    request.id = fmt::format("r{}", number_ - 1);
    request.arrival = sliced_time(slice_, row_.arrival);
    request.prompt.clear();
    if (row_.prompt.empty())
      request.prompt.push_back({content_id(request.id), 0, row_.input_tokens});
    else
      request.prompt.swap(row_.prompt);
    request.prompt_tokens = row_.input_tokens;
    request.output_tokens = request.max_tokens = row_.output_tokens;
    request.session = row_.session;
    request.priority = row_.priority;
    request.salt = request.adapter = 0, request.after = -1, request.think = Duration(0);
    advance();
    return true;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> all = reader_->notes();
    if (!has_sharing_)
      all.emplace_back("the trace has no prefix ids: no two prompts share a prefix (no sharing)");
    return all;
  }

 private:
  // Reads up to the next row that the slice takes.
  bool advance() {
    pending_ = false;
    if (slice_.max_requests && taken_ == *slice_.max_requests) return false;
    std::vector<Diagnostic> problems;
    while (reader_->read(row_, problems)) {
      if (!problems.empty()) collect(problems);
      if (row_.arrival < last_) {
        problems.push_back(reader_->here(
            "trace-time-order",
            fmt::format("the time goes back by {} s: rows must be in order of arrival",
                        to_seconds(last_ - row_.arrival))));
        collect(problems);
      }
      last_ = row_.arrival;
      ++number_;
      if (slice_.end && row_.arrival.nanoseconds() >= slice_.end->value()) return false;
      if (row_.arrival.nanoseconds() < slice_.start.value()) continue;
      ++taken_;
      return pending_ = true;
    }
    if (!problems.empty()) collect(problems);
    return false;
  }
  [[noreturn]] void collect(std::vector<Diagnostic>& problems) {
    TraceRow ignored;
    while (problems.size() < enough_problems && reader_->read(ignored, problems)) {
    }
    if (problems.size() > enough_problems) problems.resize(enough_problems);
    throw InputError(std::move(problems));
  }

  std::unique_ptr<RowReader> reader_;
  Slice slice_;
  bool has_sharing_;
  TraceRow row_;
  Time last_;
  bool pending_ = false;
  std::int64_t number_ = 0, taken_ = 0;
};

}  // namespace

Trace stream_trace(std::unique_ptr<RowReader> reader, const TraceOptions& options,
                   std::string_view format, bool has_times, bool has_sharing) {
  return {std::make_unique<RowSource>(std::move(reader), options, has_sharing), std::string(format),
          has_times, has_sharing};
}

}  // namespace kvsim::workload
