#include <fmt/format.h>

#include <memory>

#include "random/stream.h"
#include "workload/request_list.h"
#include "workload/trace/format.h"
#include "workload/trace/kvsim_line.h"

namespace kvsim::workload {
namespace {

constexpr std::size_t enough_problems = 20;

// Finds a request by its id: row numbers in a table with open addressing.
class IdIndex {
 public:
  explicit IdIndex(const RequestList& list) : list_(list), slots_(1024, empty) {}

  std::int64_t find(std::string_view id) const {
    const std::uint32_t row = slots_[slot_of(id)];
    return row == empty ? -1 : std::int64_t{row};
  }
  void add(std::int64_t row) {
    if (++count_ * 2 > slots_.size()) grow();
    slots_[slot_of(list_.id(row))] = static_cast<std::uint32_t>(row);
  }

 private:
  static constexpr std::uint32_t empty = UINT32_MAX;
  std::size_t slot_of(std::string_view id) const {
    std::size_t slot = random::hash_name(id) & (slots_.size() - 1);
    while (slots_[slot] != empty && list_.id(slots_[slot]) != id)
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    std::vector<std::uint32_t> old(slots_.size() * 2, empty);
    old.swap(slots_);
    for (const std::uint32_t row : old)
      if (row != empty) slots_[slot_of(list_.id(row))] = row;
  }

  const RequestList& list_;
  std::vector<std::uint32_t> slots_;
  std::size_t count_ = 0;
};

class Loader {
 public:
  explicit Loader(Lines& lines) : lines_(lines) {}

  void read() {
    std::string_view text;
    while (problems_.size() < enough_problems && lines_.next(text)) {
      if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (!(scan_kvsim_line(text, line_) && accept(false))) {
        if (read_kvsim_line(lines_, text, line_, problems_)) accept(true);
      }
    }
    if (problems_.empty()) resolve();
    if (!problems_.empty()) {
      if (problems_.size() > enough_problems) problems_.resize(enough_problems);
      throw InputError(std::move(problems_));
    }
  }
  std::unique_ptr<RequestList> take() { return std::move(list_); }

 private:
  struct Reference {  // an `after`, to be resolved when all ids are known
    std::int64_t row;
    std::string leader;
    int line, column;
  };

  // Takes the line over if it agrees with those before; else says so, if `report`.
  bool accept(bool report) {
    const auto refuse = [&](const char* code, std::string message, const char* pointer, int column,
                            std::size_t width) {
      if (!report) return false;
      Diagnostic d = lines_.at(code, std::move(message), {}, column, static_cast<int>(width));
      d.pointer = pointer;
      problems_.push_back(std::move(d));
      return false;
    };
    if (ids_.find(line_.id) >= 0)
      return refuse("trace-duplicate-id", fmt::format("two requests have the id \"{}\"", line_.id),
                    "/id", line_.id_column, line_.id.size() + 2);
    if (!line_.has_after) {
      if (line_.arrival < last_arrival_)
        return refuse("trace-time-order",
                      fmt::format("arrival_s goes back to {} from {}: lines must be in order of "
                                  "arrival, except those with \"after\"",
                                  to_seconds(line_.arrival), to_seconds(last_arrival_)),
                      "/arrival_s", line_.arrival_column, 1);
      last_arrival_ = line_.arrival;
    }
    RequestSpec& spec = spec_;
    spec.id.assign(line_.id), spec.session.assign(line_.session);
    spec.arrival = line_.arrival;
    spec.prompt.swap(line_.prompt);
    spec.prompt_tokens = line_.prompt_tokens;
    spec.output_tokens = line_.output_tokens, spec.max_tokens = line_.max_tokens;
    spec.priority = line_.priority, spec.salt = line_.salt, spec.adapter = line_.adapter,
    spec.think = line_.think;
    list_->add(spec);
    const std::int64_t row = list_->size() - 1;
    ids_.add(row);
    if (line_.has_after)
      references_.push_back({row, std::string(line_.after), lines_.number(), line_.after_column});
    return true;
  }

  void resolve() {
    for (const Reference& reference : references_) {
      const std::int64_t leader = ids_.find(reference.leader);
      if (leader < 0)
        blame(reference, "trace-after-unknown",
              fmt::format("after \"{}\": no request has that id", reference.leader));
      else
        list_->set_after(reference.row, leader);
    }
    find_circles();
  }
  void find_circles() {
    std::vector<std::uint32_t> visit(static_cast<std::size_t>(list_->size()),
                                     0);  // number of the walk that came by
    std::uint32_t walk = 0;
    for (const Reference& start : references_) {
      ++walk;
      std::int64_t at = start.row;
      while (at >= 0 && visit[static_cast<std::size_t>(at)] == 0) {
        visit[static_cast<std::size_t>(at)] = walk;
        at = list_->after(at);
      }
      if (at >= 0 && visit[static_cast<std::size_t>(at)] == walk)
        blame(start, "trace-after-circle",
              fmt::format("\"{}\" waits for itself: its \"after\" leads back to it or to a circle",
                          list_->id(start.row)));
    }
  }
  void blame(const Reference& reference, const char* code, std::string message) {
    Diagnostic d;
    d.code = code, d.message = std::move(message), d.file = lines_.name();
    d.line = reference.line, d.column = reference.column, d.pointer = "/after";
    problems_.push_back(std::move(d));
  }

  Lines& lines_;
  std::unique_ptr<RequestList> list_ = std::make_unique<RequestList>();
  IdIndex ids_{*list_};
  KvsimLine line_;
  RequestSpec spec_;
  Time last_arrival_;
  std::vector<Reference> references_;
  std::vector<Diagnostic> problems_;
};

}  // namespace

bool recognises_kvsim(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || line[first] != '{') return false;
  return line.find("\"prompt\"") != std::string_view::npos ||
         line.find("\"arrival_s\"") != std::string_view::npos;
}

Trace open_kvsim(std::unique_ptr<Lines> lines, const TraceOptions& options) {
  Loader loader(*lines);
  loader.read();
  std::unique_ptr<RequestList> list = loader.take();
  if (list->size() > 0) list->select(options.slice);
  if (list->size() == 0) no_requests(lines->name(), options);
  list->link();
  return {std::move(list), "kvsim", true, true};
}

}  // namespace kvsim::workload
