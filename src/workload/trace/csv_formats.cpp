#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "config/csv.h"
#include "config/document.h"
#include "diag/suggest.h"
#include "units/parse.h"
#include "workload/io/timestamp.h"
#include "workload/trace/formats.h"
#include "workload/trace/kvsim_line.h"
#include "workload/trace/rows.h"

// The CSV formats are one reader and a row each in a table of column names.
namespace kvsim::workload {
namespace {

enum class TimeKind { seconds, date };

struct CsvFormat {
  std::string_view name, time, input, output;
  std::string_view total;                    // input + output, checked where the column is there
  std::string_view session;                  // may be empty in a row
  std::string_view ones;                     // a column that must be 1 in every row
  std::span<const std::string_view> others;  // known and not needed
  TimeKind time_kind = TimeKind::seconds;
  bool time_required = true;
  bool failures =
      false;  // a row without response tokens is a request that failed: left out and counted
};

constexpr std::string_view burstgpt_others[] = {"Elapsed time", "Model", "Log Type"};
constexpr std::string_view vidur_others[] = {"pd_ratio"};
constexpr std::string_view splitwise_others[] = {"request_id", "request_type", "application_id"};

constexpr CsvFormat azure{"azure", "TIMESTAMP", "ContextTokens", "GeneratedTokens", "", "",
                          "",      {},          TimeKind::date};
constexpr CsvFormat burstgpt{
    "burstgpt",   "Timestamp", "Request tokens", "Response tokens", "Total tokens",
    "Session ID", "",          burstgpt_others,  TimeKind::seconds, true,
    true};
constexpr CsvFormat vidur{
    "vidur", "arrived_at", "num_prefill_tokens", "num_decode_tokens", "num_total_tokens",
    "",      "",           vidur_others,         TimeKind::seconds,   false};
constexpr CsvFormat splitwise{"splitwise", "arrival_timestamp", "prompt_size",   "token_size", "",
                              "",          "batch_size",        splitwise_others};

class CsvTrace final : public RowReader {
 public:
  CsvTrace(std::unique_ptr<Lines> lines, const CsvFormat& format)
      : lines_(std::move(lines)),
        rows_([from = lines_.get()](char* to, std::size_t size) { return from->read(to, size); },
              lines_->name()),
        format_(format) {
    read_header();
  }

  bool has_times() const { return time_.has_value(); }

  bool read(TraceRow& row, std::vector<Diagnostic>& problems) override {
    try {
      while (rows_.next()) {
        if (parse(row, problems)) return true;
        ++failed_;
      }
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) problems.push_back(d);
      return true;
    }
    return false;
  }
  const std::string& name() const override { return lines_->name(); }
  Diagnostic here(std::string code, std::string message) const override {
    return rows_.at(time_.value_or(0), std::move(code), std::move(message));
  }
  std::vector<std::string> notes() const override {
    if (failed_ == 0) return {};
    return {
        fmt::format("{} rows without response tokens were left out: requests that failed when the "
                    "trace was recorded",
                    failed_)};
  }

 private:
  void read_header() {
    const std::vector<std::string>& header = rows_.header();
    std::vector<Diagnostic> problems;
    std::vector<std::string> known;
    for (const std::string_view column : {format_.time, format_.input, format_.output,
                                          format_.total, format_.session, format_.ones})
      if (!column.empty()) known.emplace_back(column);
    known.insert(known.end(), format_.others.begin(), format_.others.end());
    for (std::size_t i = 0; i < header.size(); ++i)
      if (std::ranges::find(known, header[i]) == known.end())
        problems.push_back(rows_.at(i, "csv-unknown-column",
                                    fmt::format("unknown column {} in a trace of format {}",
                                                config::json_string(header[i]), format_.name),
                                    suggestion(header[i], known)));
    const auto find = [&](std::string_view column, bool required) -> std::optional<std::size_t> {
      const auto at = rows_.column(column);
      if (!at && required)
        problems.push_back(rows_.at(
            0, "csv-missing-column",
            fmt::format("column \"{}\" is missing: format {} needs it", column, format_.name)));
      return at;
    };
    time_ = find(format_.time, format_.time_required);
    input_ = find(format_.input, true).value_or(0),
    output_ = find(format_.output, true).value_or(0);
    total_ = find(format_.total, false), session_ = find(format_.session, false),
    ones_ = find(format_.ones, false);
    if (!problems.empty()) throw InputError(std::move(problems));
  }

  bool integer(std::size_t column, std::int64_t& value, std::vector<Diagnostic>& problems) {
    const auto parsed = parse_integer(rows_.cell(column));
    if (parsed)
      value = *parsed;
    else
      problems.push_back(rows_.at(column, "wrong-type",
                                  fmt::format("expected a whole number, found {}",
                                              config::json_string(rows_.cell(column)))));
    return parsed.has_value();
  }

  // False for the row of a request that failed.
  bool parse(TraceRow& row, std::vector<Diagnostic>& problems) {
    const std::size_t before = problems.size();
    row.prompt.clear();
    row.arrival = Time(0);
    if (time_) read_time(row, problems);
    const bool input_good = integer(input_, row.input_tokens, problems);
    const bool output_good = integer(output_, row.output_tokens, problems);
    const bool numbers = input_good && output_good;
    if (format_.failures && numbers && row.output_tokens == 0 && row.input_tokens >= 0)
      return problems.size() > before;
    if (numbers) {
      if (row.input_tokens < 1 || row.input_tokens > max_request_tokens)
        out_of_range(input_, problems);
      if (row.output_tokens < 1 || row.output_tokens > max_request_tokens)
        out_of_range(output_, problems);
    }
    std::int64_t total = 0, one = 1;
    if (total_ && integer(*total_, total, problems) && problems.size() == before &&
        total != row.input_tokens + row.output_tokens)
      problems.push_back(
          rows_.at(*total_, "trace-total",
                   fmt::format("{} is not {} + {}", total, row.input_tokens, row.output_tokens)));
    if (ones_ && integer(*ones_, one, problems) && one != 1)
      problems.push_back(rows_.at(
          *ones_, "trace-batch", fmt::format("{} requests in one row: write a row for each", one)));
    row.session = session_ ? rows_.cell(*session_) : std::string();
    return true;
  }
  void out_of_range(std::size_t column, std::vector<Diagnostic>& problems) {
    problems.push_back(rows_.at(column, "out-of-range",
                                fmt::format("tokens must be from 1 up to {}, found {}",
                                            max_request_tokens, rows_.cell(column))));
  }
  void read_time(TraceRow& row, std::vector<Diagnostic>& problems) {
    const std::string& text = rows_.cell(*time_);
    if (format_.time_kind == TimeKind::date) {
      const auto at = parse_timestamp(text);
      if (!at)
        return problems.push_back(
            rows_.at(*time_, "trace-time",
                     fmt::format("expected a time such as 2023-11-16 18:15:46.6805900, found {}",
                                 config::json_string(text))));
      if (!first_) first_ = *at;
      row.arrival = Time(*at - *first_);
      return;
    }
    const auto seconds = parse_number(text);
    if (!seconds || !(*seconds >= 0 && *seconds <= max_trace_seconds))
      return problems.push_back(rows_.at(
          *time_, "trace-time",
          fmt::format("expected seconds from 0 up to 1e9, found {}", config::json_string(text))));
    row.arrival = Time(to_duration(*seconds).value());
  }

  std::unique_ptr<Lines> lines_;
  config::CsvReader rows_;
  const CsvFormat& format_;
  std::size_t input_ = 0, output_ = 0;
  std::optional<std::size_t> time_, total_, session_, ones_;
  std::optional<std::int64_t> first_;
  std::int64_t failed_ = 0;
};

// The header names both length columns.
bool recognises(const CsvFormat& format, std::string_view head) {
  const std::string_view header = head.substr(0, head.find('\n'));
  return header.find(format.input) != std::string_view::npos &&
         header.find(format.output) != std::string_view::npos &&
         header.find('{') == std::string_view::npos;
}

Trace open(const CsvFormat& format, std::unique_ptr<Lines> lines, const TraceOptions& options) {
  auto reader = std::make_unique<CsvTrace>(std::move(lines), format);
  const bool has_times = reader->has_times();
  return stream_trace(std::move(reader), options, format.name, has_times, false);
}

}  // namespace

bool recognises_azure(std::string_view head) { return recognises(azure, head); }
bool recognises_burstgpt(std::string_view head) { return recognises(burstgpt, head); }
bool recognises_vidur(std::string_view head) { return recognises(vidur, head); }
bool recognises_splitwise(std::string_view head) { return recognises(splitwise, head); }

Trace open_azure(std::unique_ptr<Lines> lines, const TraceOptions& o) {
  return open(azure, std::move(lines), o);
}
Trace open_burstgpt(std::unique_ptr<Lines> lines, const TraceOptions& o) {
  return open(burstgpt, std::move(lines), o);
}
Trace open_vidur(std::unique_ptr<Lines> lines, const TraceOptions& o) {
  return open(vidur, std::move(lines), o);
}
Trace open_splitwise(std::unique_ptr<Lines> lines, const TraceOptions& o) {
  return open(splitwise, std::move(lines), o);
}

}  // namespace kvsim::workload
