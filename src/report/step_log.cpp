#include "report/step_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/document.h"

namespace kvsim::report {
namespace {

constexpr std::size_t flush_at = std::size_t{1} << 16;

void append_integer(std::string& out, std::int64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

}  // namespace

void append_seconds(std::string& out, Time time) {
  std::int64_t ns = time.nanoseconds();
  if (ns < 0) out += '-', ns = -ns;
  append_integer(out, ns / ns_per_second);
  char decimals[10] = {'.'};
  std::int64_t rest = ns % ns_per_second;
  for (int i = 9; i >= 1; --i) decimals[i] = static_cast<char>('0' + rest % 10), rest /= 10;
  std::size_t used = 10;
  while (used > 2 && decimals[used - 1] == '0') --used;
  out.append(decimals, used);
}

void append_json_string(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
  if (!plain) {
    out += config::json_string(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void StepLog::entry(std::string& out, std::string_view id, std::int64_t tokens) {
  if (!out.empty()) out += ',';
  append_json_string(out, id);
  out += ':';
  append_integer(out, tokens);
}

void StepLog::name(std::string& out, std::string_view id) {
  if (!out.empty()) out += ',';
  append_json_string(out, id);
}

void StepLog::begin(std::int64_t step, Time start, int engine) {
  if (start != start_) flush_instant();
  step_ = step, start_ = start, engine_ = engine;
  scheduled_.clear(), hits_.clear(), preempted_.clear(), finished_.clear();
  radix_.clear(), loaded_.clear(), loaded_only_.clear();
}

void StepLog::radix(std::string_view mode, std::int64_t available, std::int64_t evictable,
                    std::int64_t locked, double new_token_ratio) {
  fmt::format_to(std::back_inserter(radix_),
                 ",\"mode\":\"{}\",\"available\":{},\"evictable\":{},\"protected\":{},"
                 "\"new_token_ratio\":{}",
                 mode, available, evictable, locked, new_token_ratio);
}

void StepLog::host_used(std::int64_t tokens) {
  fmt::format_to(std::back_inserter(radix_), ",\"host_used\":{}", tokens);
}

void StepLog::end(std::int64_t running, std::int64_t waiting, std::int64_t free_blocks) {
  if (lines_ == instant_.size()) instant_.emplace_back();
  Line& line = instant_[lines_++];
  line.engine = engine_;
  std::string& out = line.text;
  out = "{\"step\":";
  append_integer(out, step_);
  out += ",\"time_s\":";
  append_seconds(out, start_);
  out += ",\"engine\":";
  append_integer(out, engine_);
  const auto part = [&](std::string_view open, const std::string& inside, std::string_view close) {
    out += open;
    out += inside;
    out += close;
  };
  part(",\"scheduled\":{", scheduled_, "}");
  part(",\"hits\":{", hits_, "}");
  part(",\"preempted\":[", preempted_, "]");
  part(",\"finished\":[", finished_, "]");
  out += ",\"running\":";
  append_integer(out, running);
  out += ",\"waiting\":";
  append_integer(out, waiting);
  out += ",\"free_blocks\":";
  append_integer(out, free_blocks);
  out += radix_;
  if (!loaded_.empty()) part(",\"loaded\":{", loaded_, "}");
  if (!loaded_only_.empty()) part(",\"loaded_only\":{", loaded_only_, "}");
  out += "}\n";
}

void StepLog::flush_instant() {
  const auto end = instant_.begin() + static_cast<std::ptrdiff_t>(lines_);
  std::stable_sort(instant_.begin(), end,
                   [](const Line& a, const Line& b) { return a.engine < b.engine; });
  for (std::size_t i = 0; i < lines_; ++i) buffer_ += instant_[i].text;
  lines_ = 0;
  if (buffer_.size() < flush_at) return;
  file_.write(buffer_);
  buffer_.clear();
}

void StepLog::commit() {
  flush_instant();
  file_.write(buffer_);
  buffer_.clear();
  file_.commit();
}

}  // namespace kvsim::report
