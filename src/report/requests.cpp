#include <fmt/format.h>

#include "report/exporter.h"
#include "report/step_log.h"

namespace kvsim::report {

// By hand: there may be millions of them. Reads back through fields(RequestRow).
std::string render_requests(const metrics::RunResult& result, const Style&) {
  std::string out;
  const auto number = [&](std::string_view name, std::int64_t value) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":{}", name, value);
  };
  const auto text = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":", name);
    append_json_string(out, value);
  };
  const auto seconds = [&](std::string_view name, Time value) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":", name);
    append_seconds(out, value);
  };
  for (const metrics::RequestRow& r : result.requests) {
    out += "{\"id\":";
    append_json_string(out, r.id);
    number("index", r.index);
    if (!r.session.empty()) text("session", r.session);
    number("pool", r.pool);
    number("engine", r.engine);
    fmt::format_to(std::back_inserter(out), ",\"measured\":{}", r.measured);
    if (!r.failure.empty()) text("failure", r.failure);
    number("prompt_tokens", r.prompt_tokens);
    number("output_tokens", r.output_tokens);
    number("cached_tokens", r.cached_tokens);
    number("preemptions", r.preemptions);
    seconds("arrival_s", r.arrival);
    seconds("first_scheduled_s", r.first_scheduled);
    seconds("first_token_s", r.first_token);
    seconds("end_s", r.end);
    if (!r.gaps.empty()) {
      out += ",\"itls_s\":[";
      for (std::size_t i = 0; i < r.gaps.size(); ++i) {
        if (i > 0) out += ',';
        append_seconds(out, Time(r.gaps[i].value()));
      }
      out += ']';
    }
    out += "}\n";
  }
  return out;
}

}  // namespace kvsim::report
