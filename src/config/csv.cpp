#include "config/csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "config/document.h"
#include "diag/suggest.h"
#include "units/parse.h"

namespace kvsim::config {
namespace {

constexpr std::size_t chunk = 64 * 1024;
constexpr std::size_t max_record = 1024 * 1024;

// First byte that is not part of well-formed UTF-8, or npos.
std::size_t first_bad_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = c >= 0xC2 && c < 0xE0   ? 1
                             : c >= 0xE0 && c < 0xF0 ? 2
                             : c >= 0xF0 && c < 0xF5 ? 3
                                                     : 0;
    if (more == 0 || i + more >= text.size()) return i;
    for (std::size_t k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    i += more + 1;
  }
  return std::string_view::npos;
}

struct Split {
  std::vector<std::string>* cells;
  int rows = 0;
};
void on_cell(void* text, std::size_t size, void* split) {
  auto* cells = static_cast<Split*>(split)->cells;
  cells->emplace_back(text ? std::string(static_cast<const char*>(text), size) : std::string());
}
void on_row(int, void* split) { ++static_cast<Split*>(split)->rows; }

}  // namespace

CsvReader::CsvReader(ByteSource source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  if (!next()) {
    Diagnostic d;
    d.code = "csv-empty", d.file = name_,
    d.message = "the file is empty: expected a header with column names";
    throw InputError(std::move(d));
  }
  header_ = std::exchange(cells_, {});
  std::vector<Diagnostic> problems;
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].empty())
      problems.push_back(at(i, "csv-header", fmt::format("column {} has no name", i + 1)));
    else if (std::find(header_.begin(), header_.begin() + static_cast<std::ptrdiff_t>(i),
                       header_[i]) != header_.begin() + static_cast<std::ptrdiff_t>(i))
      problems.push_back(
          at(i, "csv-header", fmt::format("column {} appears twice", json_string(header_[i]))));
  }
  if (!problems.empty()) throw InputError(std::move(problems));
}

CsvReader CsvReader::open(const std::string& path) {
  return from_text(read_file(path), path == "-" ? "<stdin>" : path);
}

CsvReader CsvReader::from_text(std::string text, std::string name) {
  auto rest = std::make_shared<std::pair<std::string, std::size_t>>(std::move(text), 0);
  return CsvReader(
      [rest](char* buffer, std::size_t size) {
        const std::size_t n = std::min(size, rest->first.size() - rest->second);
        std::memcpy(buffer, rest->first.data() + rest->second, n);
        rest->second += n;
        return n;
      },
      std::move(name));
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  return found == header_.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - header_.begin()));
}

std::size_t CsvReader::required_column(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  Diagnostic d;
  d.code = "csv-missing-column", d.file = name_, d.line = 1, d.column = 1;
  d.message = fmt::format("column \"{}\" is missing", name), d.hint = suggestion(name, header_);
  throw InputError(std::move(d));
}

// A record ends at a line end outside quotes; doubled quotes inside a cell keep the parity.
bool CsvReader::read_record() {
  bool quoted = false;
  std::size_t at = used_;
  for (;;) {
    for (; at < buffer_.size(); ++at) {
      if (buffer_[at] == '"') quoted = !quoted;
      if (buffer_[at] != '\n' || quoted) continue;
      record_.assign(buffer_, used_, at - used_);
      used_ = at + 1;
      return true;
    }
    const std::size_t pending = buffer_.size() - used_;
    if (pending > max_record) {
      record_.assign(buffer_, used_, 80);
      line_ = next_line_;
      fail(0, "csv-record", "a record of over 1 MiB: is a closing quote missing?");
    }
    if (ended_) {
      record_.assign(buffer_, used_, pending);
      used_ = buffer_.size();
      return pending > 0;
    }
    buffer_.erase(0, used_);
    at -= used_, used_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + chunk);
    const std::size_t got = source_(buffer_.data() + before, chunk);
    buffer_.resize(before + got);
    ended_ = got == 0;
  }
}

bool CsvReader::next() {
  while (read_record()) {
    line_ = next_line_;
    next_line_ += 1 + static_cast<int>(std::count(record_.begin(), record_.end(), '\n'));
    if (!record_.empty() && record_.back() == '\r') record_.pop_back();
    if (line_ == 1 && record_.starts_with("\xEF\xBB\xBF")) record_.erase(0, 3);
    if (record_.find_first_not_of(" \t") == std::string::npos) continue;
    split();
    return true;
  }
  return false;
}

void CsvReader::split() {
  if (const auto bad = first_bad_utf8(record_); bad != std::string::npos)
    fail(bad, "csv-utf8", "not UTF-8 text");
  if (const auto zero = record_.find('\0'); zero != std::string::npos)
    fail(zero, "csv-syntax", "a zero byte");
  cells_.clear();
  csv_parser parser;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  Split state{&cells_};
  const std::size_t parsed =
      csv_parse(&parser, record_.data(), record_.size(), on_cell, on_row, &state);
  const bool failed = parsed != record_.size() || csv_fini(&parser, on_cell, on_row, &state) != 0;
  csv_free(&parser);
  if (failed) fail(std::min(parsed, record_.size()), "csv-syntax", "misplaced or unclosed quote");
  if (state.rows != 1)
    fail(record_.find('\r'), "csv-syntax", "a carriage return without a line feed");
  if (!header_.empty() && cells_.size() != header_.size())
    fail(
        0, "csv-cells",
        fmt::format("expected {} cells as in the header, found {}", header_.size(), cells_.size()));
}

double CsvReader::number(std::size_t column) const {
  if (const auto value = parse_number(cells_[column])) return *value;
  throw InputError(at(column, "csv-cell",
                      fmt::format("{}: expected a number, found {}", header_[column],
                                  json_string(cells_[column]))));
}

std::int64_t CsvReader::integer(std::size_t column) const {
  if (const auto value = parse_integer(cells_[column])) return *value;
  throw InputError(at(column, "csv-cell",
                      fmt::format("{}: expected a whole number, found {}", header_[column],
                                  json_string(cells_[column]))));
}

std::optional<double> CsvReader::optional_number(std::size_t column) const {
  return cells_[column].empty() ? std::nullopt : std::optional(number(column));
}

std::optional<std::int64_t> CsvReader::optional_integer(std::size_t column) const {
  return cells_[column].empty() ? std::nullopt : std::optional(integer(column));
}

Diagnostic CsvReader::at(std::size_t column, std::string code, std::string message,
                         std::string hint) const {
  bool quoted = false;
  std::size_t begin = 0, cell = 0, end = 0;
  for (; end < record_.size(); ++end) {
    if (record_[end] == '"') quoted = !quoted;
    if (record_[end] != ',' || quoted) continue;
    if (cell == column) break;
    ++cell, begin = end + 1;
  }
  Diagnostic d = locate(begin, end - begin);
  d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint);
  return d;
}

Diagnostic CsvReader::locate(std::size_t offset, std::size_t width) const {
  const std::string_view before = std::string_view(record_).substr(0, offset);
  const auto breaks = std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto stop = std::min(record_.find('\n', start), record_.size());
  Diagnostic d;
  d.file = name_, d.line = line_ + static_cast<int>(breaks),
  d.column = static_cast<int>(offset - start) + 1;
  d.source_line = record_.substr(start, stop - start);
  for (char& c : d.source_line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  d.width =
      static_cast<int>(std::clamp<std::size_t>(width, 1, std::max<std::size_t>(stop - offset, 1)));
  return d;
}

void CsvReader::fail(std::size_t offset, std::string code, std::string message) const {
  Diagnostic d = locate(std::min(offset, record_.size()), 1);
  d.code = std::move(code), d.message = std::move(message);
  throw InputError(std::move(d));
}

}  // namespace kvsim::config
