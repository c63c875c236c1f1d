#include <fmt/format.h>

#include "report/exporter.h"
#include "report/step_log.h"

namespace kvsim::report {
namespace {

// A field as RFC 4180 has it: quoted where it holds a comma, a quote or a line break.
void append_field(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

std::string render_csv(const metrics::RunResult& result, const Style&) {
  std::string out =
      "id,index,session,pool,engine,measured,failure,prompt_tokens,output_tokens,cached_tokens,"
      "preemptions,arrival_s,first_scheduled_s,first_token_s,end_s,ttft_ms,tpot_ms,e2el_ms\n";
  for (const metrics::RequestRow& r : result.requests) {
    append_field(out, r.id);
    fmt::format_to(std::back_inserter(out), ",{},", r.index);
    append_field(out, r.session);
    fmt::format_to(std::back_inserter(out), ",{},{},{},", r.pool, r.engine, r.measured);
    append_field(out, r.failure);
    fmt::format_to(std::back_inserter(out), ",{},{},{},{}", r.prompt_tokens, r.output_tokens,
                   r.cached_tokens, r.preemptions);
    for (const Time t : {r.arrival, r.first_scheduled, r.first_token, r.end}) {
      out += ',';
      append_seconds(out, t);
    }
    if (r.failure.empty()) {
      fmt::format_to(std::back_inserter(out), ",{},", to_ms(r.first_token - r.arrival));
      if (r.output_tokens > 1) {
        fmt::format_to(std::back_inserter(out), "{}",
                       to_ms(r.end - r.first_token) / static_cast<double>(r.output_tokens - 1));
      }
      fmt::format_to(std::back_inserter(out), ",{}\n", to_ms(r.end - r.arrival));
    } else {
      out += ",,,\n";
    }
  }
  return out;
}

}  // namespace kvsim::report
