#include "report/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "config/reader.h"
#include "diag/suggest.h"
#include "report/json.h"
#include "report/result_fields.h"

namespace kvsim::report {
namespace {

// Request lines are whole objects; a result document is indented or has a schema.
bool is_request_lines(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.starts_with("{\"id\":") && first.find("\"arrival_s\":") != std::string_view::npos;
}

metrics::RequestRow read_line(std::string_view line, const std::string& name, int number) {
  const auto document = config::Document::parse_line(std::string(line), name, number);
  metrics::RequestRow row;
  Diagnostics diagnostics;
  config::read(document.root(), row, diagnostics);
  diagnostics.throw_if_errors();
  return row;
}

template <class Use>
void each_line(std::string_view text, Use&& use) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) use(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

[[noreturn]] void no_such_request(const std::string& path, const std::string& id,
                                  const std::vector<metrics::RequestRow>& rows) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < rows.size() && i < 10'000; ++i) ids.push_back(rows[i].id);
  Diagnostic d;
  d.code = "request-unknown";
  d.file = path;
  d.message = fmt::format("no request with id {}", config::json_string(id));
  if (const auto near = nearest(id, ids))
    d.hint = fmt::format("did you mean {}?", config::json_string(*near));
  throw InputError(d);
}

}  // namespace

Loaded load_result(const std::string& path) {
  std::string text = config::read_file(path);
  Loaded out;
  if (!is_request_lines(text)) {
    out.result = read_result(config::Document::parse(std::move(text), path));
    return out;
  }
  out.requests_only = true;
  each_line(text, [&](std::string_view line, int number) {
    out.result.requests.push_back(read_line(line, path, number));
  });
  return out;
}

metrics::RequestRow load_request(const std::string& path, const std::string& id) {
  const std::string text = config::read_file(path);
  if (is_request_lines(text)) {
    // Only the line that begins with the id is read: the file may hold a million.
    const std::string wanted = "{\"id\":" + config::json_string(id) + ",";
    std::optional<metrics::RequestRow> found;
    each_line(text, [&](std::string_view line, int number) {
      if (!found && line.starts_with(wanted)) found = read_line(line, path, number);
    });
    if (!found) no_such_request(path, id, {});
    return *found;
  }
  metrics::RunResult result = read_result(config::Document::parse(text, path));
  if (result.requests.empty()) {
    Diagnostic d;
    d.code = "result-without-requests";
    d.file = path;
    d.message = "the result holds no requests";
    d.hint = "run it with --detailed, or with --requests-out FILE and give that file here";
    throw InputError(d);
  }
  for (metrics::RequestRow& row : result.requests) {
    if (row.id == id) return std::move(row);
  }
  no_such_request(path, id, result.requests);
}

}  // namespace kvsim::report
