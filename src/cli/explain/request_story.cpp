#include "cli/explain/request_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/document.h"
#include "metrics/request_record.h"
#include "report/load.h"
#include "units/format.h"

namespace kvsim::cli {
namespace {

// Calls visit(text, number) for every line that is not blank.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) visit(line, number);
  }
}

class Story {
 public:
  explicit Story(const metrics::RequestRow& row) : row_(row) {}

  void line(Time at, std::string_view what, std::string_view note = {}) {
    lines_.push_back({at, fmt::format("  {:>14.6f} s  {:<46}{}", to_seconds(at), what, note)});
  }
  // The engine's steps that did more for the request than make one token.
  void read_steps(const std::string& file) {
    const std::string text = config::read_file(file);
    const std::string key = config::json_string(row_.id);
    bool is_running = false;
    for_each_line(text, [&](std::string_view raw, int number) {
      if (raw.find(key) == std::string_view::npos && number > 1) return;
      const config::Document document =
          config::Document::parse_line(std::string(raw), file, number);
      const config::Value root = document.root();
      const auto member = [&](const char* name) {
        const config::Value value = root.is_object() ? root.find(name) : config::Value{};
        if (!value.exists())
          throw InputError(root.diagnostic(
              "missing-field", fmt::format("not a line of a step log: it has no \"{}\"", name)));
        return value;
      };
      const config::Value scheduled = member("scheduled");
      const std::int64_t step = member("step").integer();
      const Time start(to_duration(member("time_s").number()).value());
      if (is_listed(root.find("preempted"))) {
        line(start, fmt::format("put back, its blocks are given to others (step {})", step));
        is_running = false;
      }
      const config::Value tokens = scheduled.find(row_.id);
      if (!tokens.exists()) return;
      if (tokens.integer() > 1 || !is_running)
        line(start,
             fmt::format("{} {} tokens (step {})", is_running ? "continues with" : "scheduled with",
                         format_integer(tokens.integer()), step),
             fmt::format("{} others", scheduled.size() - 1));
      is_running = true;
    });
  }
  std::string text() {
    std::ranges::stable_sort(lines_, {}, &Line::at);
    std::string out;
    for (const Line& l : lines_) out += l.text.substr(0, l.text.find_last_not_of(' ') + 1) + '\n';
    return out;
  }

 private:
  bool is_listed(const config::Value& list) const {
    if (!list.exists()) return false;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list.at(i).is_string() && list.at(i).string() == row_.id) return true;
    return false;
  }
  struct Line {
    Time at;
    std::string text;
  };
  const metrics::RequestRow& row_;
  std::vector<Line> lines_;
};

}  // namespace

std::string request_story(const std::string& requests, const std::string& steps,
                          std::string_view id) {
  const metrics::RequestRow r = report::load_request(requests, std::string(id));
  std::string out = fmt::format(
      "{}: {} prompt tokens ({} found in the prefix cache), {} output tokens, engine {}\n", r.id,
      format_integer(r.prompt_tokens), format_integer(r.cached_tokens),
      format_integer(r.output_tokens), r.engine);
  Story story(r);
  story.line(r.arrival, "arrives");
  if (!r.failure.empty()) {
    story.line(r.end, "is not served: " + r.failure);
    return out + story.text();
  }
  if (steps.empty())
    story.line(r.first_scheduled, "first scheduled",
               "waited " + format_duration(r.first_scheduled - r.arrival));
  else
    story.read_steps(steps);
  story.line(r.first_token, "first token", "TTFT " + format_duration(r.first_token - r.arrival));
  if (r.output_tokens > 1)
    story.line(r.end, "last token",
               fmt::format("E2E {}, TPOT {} ms", format_duration(r.end - r.arrival),
                           format_significant(to_ms(r.end - r.first_token) /
                                              static_cast<double>(r.output_tokens - 1))));
  out += story.text();
  if (r.preemptions > 0) out += fmt::format("  put back {} times\n", r.preemptions);
  if (!r.measured) out += "  inside the warm-up: not part of the summary\n";
  return out;
}

}  // namespace kvsim::cli
