#include <fmt/format.h>

#include <deque>
#include <iterator>
#include <unordered_map>

#include "config/document.h"
#include "diag/check.h"
#include "workload/trace/writer.h"

namespace kvsim::workload {
namespace {

// Contents get the names that follow from ids (x and x/out) where these are known, else "#..." .
class KvsimWriter final : public TraceWriter {
 public:
  explicit KvsimWriter(const WriteOptions& options) : options_(options) {
    for (const std::string& name : options.names) names_.emplace(content_id(name), name);
  }

  void add(const RequestSpec& r, std::string& out) override {
    if (options_.has_followers) {
      names_.emplace(content_id(r.id), r.id), names_.emplace(output_content(r.id), r.id + "/out");
      ids_.emplace(r.index, r.id);
    }
    Line line;
    line.head = head(r);
    line.tail = tail(r);
    line.leader = r.after;
    pending_.push_back(std::move(line));
    flush(out);
  }

  void end(std::string&) override {
    KVSIM_CHECK(pending_.empty(), "request {} follows one that was never written",
                pending_.front().leader);
  }

 private:
  // A line waits while the request it follows has not been seen, and those behind it with it.
  struct Line {
    std::string head, tail;
    std::int64_t leader = -1;
  };
  void flush(std::string& out) {
    while (!pending_.empty()) {
      const Line& line = pending_.front();
      out += line.head;
      if (line.leader >= 0) {
        const auto leader = ids_.find(line.leader);
        if (leader == ids_.end()) return out.resize(out.size() - line.head.size());
        out += ",\"after\":" + config::json_string(leader->second);
      }
      out += line.tail;
      pending_.pop_front();
    }
  }

  std::string name(std::uint64_t content, const RequestSpec& r) const {
    if (const auto known = names_.find(content); known != names_.end()) return known->second;
    return content == content_id(r.id) ? r.id : content_literal(content);
  }
  std::string head(const RequestSpec& r) const {
    std::string out = fmt::format("{{\"id\":{}", config::json_string(r.id));
    if (r.after < 0 || r.arrival.nanoseconds() > 0)
      out += ",\"arrival_s\":" + decimal(r.arrival.nanoseconds(), 9);
    out += ",\"prompt\":[";
    bool first = true;
    for (const Span& span : r.prompt) {
      fmt::format_to(std::back_inserter(out), "{}[{},{}", first ? "" : ",",
                     config::json_string(name(span.content, r)), span.length);
      if (span.offset > 0) fmt::format_to(std::back_inserter(out), ",{}", span.offset);
      out += ']';
      first = false;
    }
    fmt::format_to(std::back_inserter(out), "],\"output_tokens\":{}", r.output_tokens);
    if (r.max_tokens != r.output_tokens)
      fmt::format_to(std::back_inserter(out), ",\"max_tokens\":{}", r.max_tokens);
    if (r.priority != 0) fmt::format_to(std::back_inserter(out), ",\"priority\":{}", r.priority);
    if (r.salt != 0)
      fmt::format_to(std::back_inserter(out), ",\"salt\":\"{}\"", content_literal(r.salt));
    if (r.adapter != 0)
      fmt::format_to(std::back_inserter(out), ",\"adapter\":\"{}\"", content_literal(r.adapter));
    if (!r.session.empty()) out += ",\"session\":" + config::json_string(r.session);
    return out;
  }
  static std::string tail(const RequestSpec& r) {
    return r.think.value() > 0 ? ",\"think_s\":" + decimal(r.think.value(), 9) + "}\n" : "}\n";
  }

  WriteOptions options_;
  std::unordered_map<std::uint64_t, std::string> names_;
  std::unordered_map<std::int64_t, std::string> ids_;
  std::deque<Line> pending_;
};

}  // namespace

std::unique_ptr<TraceWriter> make_kvsim_writer(const WriteOptions& options) {
  return std::make_unique<KvsimWriter>(options);
}

}  // namespace kvsim::workload
