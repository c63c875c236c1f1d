#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/document.h"
#include "report/wrap.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using config::Value;

// Lines of a request's life, each with its time since the arrival.
class Lines {
 public:
  explicit Lines(Time arrival) : arrival_(arrival) {}
  void add(Time at, const std::string& what) {
    const std::string since = at == arrival_ ? fmt::format("{:.3f} s", to_seconds(at))
                                             : "+" + format_duration(at - arrival_);
    text += wrap(fmt::format("  {:>12} {}", since, what), 99, 15);
  }
  std::string text;

 private:
  Time arrival_;
};

std::string plural(std::int64_t n, std::string_view thing) {
  return fmt::format("{} {}{}", format_integer(n), thing, n == 1 ? "" : "s");
}

std::int64_t integer(Value object, const char* name) {
  const Value value = object.find(name);
  if (!value.exists() || value.kind() != config::Kind::integer) {
    throw InputError(object.diagnostic("step-log-field",
                                       fmt::format("a step needs a whole number \"{}\"", name)));
  }
  return value.integer();
}

bool names(Value step, const char* list, const std::string& id) {
  const Value value = step.find(list);
  if (!value.exists() || !value.is_array()) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value.at(i).is_string() && value.at(i).string() == id) return true;
  }
  return false;
}

std::int64_t tokens(Value step, const char* map, const std::string& id) {
  const Value value = step.find(map);
  if (!value.exists() || !value.is_object()) return 0;
  const Value count = value.find(id);
  return count.exists() && count.kind() == config::Kind::integer ? count.integer() : 0;
}

// The steps between first schedule and end: chunks and preemptions one by one, decodes together.
void add_steps(Lines& lines, const std::vector<StepMention>& mentions, Time first_token) {
  std::int64_t decodes = 0;
  bool resumes = false;
  Time decode_since;
  const auto flush = [&] {
    if (decodes > 0) lines.add(decode_since, fmt::format("decodes: {}", plural(decodes, "step")));
    decodes = 0;
  };
  for (const StepMention& m : mentions) {
    if (m.preempted) {
      flush();
      lines.add(m.start, fmt::format("step {}: preempted, gives up its blocks", m.step));
      resumes = true;
      continue;
    }
    if (m.scheduled == 0) continue;
    if (m.scheduled == 1 && m.start >= first_token && !resumes) {
      if (decodes++ == 0) decode_since = m.start;
      continue;
    }
    flush();
    std::string what =
        fmt::format("step {}: {} {} tokens", m.step, resumes ? "resumes, recomputes" : "prefills",
                    format_integer(m.scheduled));
    if (m.hit > 0) what += fmt::format("; {} found in the prefix cache", format_integer(m.hit));
    lines.add(m.start, what);
    resumes = false;
  }
  flush();
}

}  // namespace

std::vector<StepMention> load_mentions(const std::string& path, const std::string& id) {
  const std::string text = config::read_file(path);
  const std::string quoted = config::json_string(id);
  std::vector<StepMention> out;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find(quoted) == std::string_view::npos) continue;
    const auto document = config::Document::parse_line(std::string(line), path, number);
    const Value step = document.root();
    const Value time = step.is_object() ? step.find("time_s") : Value();
    if (!time.exists() ||
        (time.kind() != config::Kind::number && time.kind() != config::Kind::integer)) {
      throw InputError(step.diagnostic("step-log-field", "a step needs a number \"time_s\""));
    }
    StepMention m;
    m.step = integer(step, "step");
    m.start = Time(to_duration(time.number()).value());
    m.engine = static_cast<int>(integer(step, "engine"));
    m.scheduled = tokens(step, "scheduled", id);
    m.hit = tokens(step, "hits", id);
    m.preempted = names(step, "preempted", id);
    m.finished = names(step, "finished", id);
    if (m.scheduled > 0 || m.preempted || m.finished) out.push_back(m);
  }
  return out;
}

std::string timeline(const metrics::RequestRow& r, const std::vector<StepMention>& mentions) {
  std::string head = fmt::format("{}: {}, {}", r.id, plural(r.prompt_tokens, "prompt token"),
                                 plural(r.output_tokens, "output token"));
  if (!r.session.empty()) head += fmt::format(", session {}", r.session);
  head += fmt::format(", pool {}, engine {}", r.pool, r.engine);
  if (!r.measured) head += "; inside the warm-up, so not in the summary";
  std::string out = wrap(head, 99, 4);

  Lines lines(r.arrival);
  lines.add(r.arrival, "arrives");
  if (!r.failure.empty()) {
    lines.add(r.end, "never served: " + r.failure);
    return out + lines.text;
  }
  std::string start = fmt::format("first scheduled after {} in the queue",
                                  format_duration(r.first_scheduled - r.arrival));
  if (r.cached_tokens > 0)
    start += fmt::format("; {} of the prompt found in the prefix cache",
                         plural(r.cached_tokens, "token"));
  lines.add(r.first_scheduled, start);
  const auto split = std::find_if(mentions.begin(), mentions.end(),
                                  [&](const StepMention& m) { return m.start >= r.first_token; });
  add_steps(lines, {mentions.begin(), split}, r.first_token);
  lines.add(r.first_token, fmt::format("first token: TTFT {}, of which {} in prefill",
                                       format_duration(r.first_token - r.arrival),
                                       format_duration(r.first_token - r.first_scheduled)));
  add_steps(lines, {split, mentions.end()}, r.first_token);
  std::string done = fmt::format("done: end to end {}", format_duration(r.end - r.arrival));
  if (r.output_tokens > 1) {
    const double ns = static_cast<double>((r.end - r.first_token).value()) /
                      static_cast<double>(r.output_tokens - 1);
    done += fmt::format(", {} per token after the first", format_duration(to_duration(ns / 1e9)));
  }
  if (r.preemptions > 0) done += fmt::format(", preempted {}", plural(r.preemptions, "time"));
  lines.add(r.end, done);
  return out + lines.text;
}

}  // namespace kvsim::report
