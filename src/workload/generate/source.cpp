#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "diag/check.h"
#include "workload/generate/kinds.h"
#include "workload/trace/kvsim_line.h"

namespace kvsim::workload {
namespace {

class GeneratedSource final : public RequestSource {
 public:
  GeneratedSource(const GenerateSpec& spec, std::uint64_t seed, const std::string& folder)
      : spec_(spec),
        draws_(spec, seed, folder),
        kind_(find_request_kind(spec.kind)->make(spec_, draws_, folder)) {
    if (closed()) return;
    std::optional<std::int64_t> sessions;
    if (spec.arrival.rescale) {
      std::int64_t count = 0;
      while (base_of(count) < spec_.requests) ++count;
      sessions = count;
    }
    times_.emplace(spec_.arrival, seed, sessions);
  }

  bool next(RequestSpec& request) override {
    const std::int64_t session = at_;
    if (base_of(session) >= spec_.requests || (closed() && session >= *spec_.arrival.clients))
      return false;
    ++at_;
    start(session, closed() ? Time(0) : times_->next(), request);
    ++delivered_;
    return true;
  }

  bool ended(std::int64_t index, Time end) override {
    if (const auto found = waiting_.find(index); found != waiting_.end()) {
      for (RequestSpec& follower : found->second) {
        follower.arrival = std::max(follower.arrival, end + follower.think);
        free_.push_back(std::move(follower));
      }
      waiting_.erase(found);
    }
    if (const auto found = turn_of_.find(index); found != turn_of_.end()) {
      const std::int64_t session = found->second;
      turn_of_.erase(found);
      RequestSpec root;
      const Duration think = client_pause(session);
      start(session, end + think, root);
      root.after = index, root.think = think;
      free_.push_back(std::move(root));
    }
    return free_at_ < free_.size();
  }

  bool follow_up(RequestSpec& request) override {
    if (free_at_ == free_.size()) return false;
    request = std::move(free_[free_at_]);
    if (++free_at_ == free_.size()) free_.clear(), free_at_ = 0;
    ++delivered_;
    return true;
  }

  bool list(RequestSpec& request) override {
    if (listed_at_ == listed_.size()) {
      const std::int64_t session = at_++;
      const std::int64_t base = base_of(session);
      if (base >= spec_.requests) return false;
      build(session, listed_);
      listed_at_ = 0;
      if (!closed()) listed_[0].arrival = times_->next();
      const std::int64_t before = closed() ? session - *spec_.arrival.clients : -1;
      if (before >= 0)
        listed_[0].after = base_of(before + 1) - 1, listed_[0].think = client_pause(session);
    }
    request = listed_[listed_at_++];
    return true;
  }

  std::int64_t remaining() const override { return spec_.requests - delivered_; }

 private:
  bool closed() const { return spec_.arrival.kind == ArrivalKind::closed; }

  // Index of the first request of a session; sessions are built in order to know their sizes.
  std::int64_t base_of(std::int64_t session) {
    while (static_cast<std::int64_t>(bases_.size()) <= session) {
      const std::int64_t last = bases_.back();
      if (last >= spec_.requests) {
        bases_.push_back(last);
        continue;
      }
      kind_->build(static_cast<std::int64_t>(bases_.size()) - 1, last, spec_.requests - last,
                   scratch_);
      bases_.push_back(last + static_cast<std::int64_t>(scratch_.size()));
    }
    return bases_[static_cast<std::size_t>(session)];
  }
  void build(std::int64_t session, std::vector<RequestSpec>& out) {
    const std::int64_t base = base_of(session);
    kind_->build(session, base, spec_.requests - base, out);
    KVSIM_CHECK(!out.empty(), "session {} has no requests", session);
    for (const RequestSpec& r : out) {
      if (r.prompt_tokens <= max_request_tokens) continue;
      Diagnostic d;
      d.code = "workload-generate", d.pointer = "/workload/generate";
      d.message = "request " + r.id + " has a prompt of over a billion tokens";
      throw InputError(std::move(d));
    }
  }
  Duration client_pause(std::int64_t session) {
    return spec_.arrival.think ? draws_.pause(*spec_.arrival.think, "client", base_of(session))
                               : Duration(0);
  }

  // Builds a session, hands out its first request and keeps the others until they are free.
  void start(std::int64_t session, Time arrival, RequestSpec& root) {
    build(session, scratch_);
    if (closed()) {
      const std::int64_t next = session + *spec_.arrival.clients;
      const std::int64_t last = scratch_.back().index;
      if (base_of_quiet(next) < spec_.requests) turn_of_.emplace(last, next);
    }
    for (std::size_t i = 1; i < scratch_.size(); ++i)
      waiting_[scratch_[i].after].push_back(std::move(scratch_[i]));
    root = std::move(scratch_[0]);
    root.arrival = arrival;
  }
  // base_of() uses the scratch list; this leaves it as it is.
  std::int64_t base_of_quiet(std::int64_t session) {
    std::vector<RequestSpec> kept;
    kept.swap(scratch_);
    const std::int64_t base = base_of(session);
    scratch_.swap(kept);
    return base;
  }

  GenerateSpec spec_;
  Draws draws_;
  std::unique_ptr<RequestKind> kind_;
  std::optional<ArrivalTimes> times_;
  std::vector<std::int64_t> bases_{0};
  std::vector<RequestSpec> scratch_, listed_;
  std::size_t listed_at_ = 0;
  std::int64_t at_ = 0;  // the next session
  std::int64_t delivered_ = 0;
  std::unordered_map<std::int64_t, std::vector<RequestSpec>> waiting_;  // by whom they follow
  std::unordered_map<std::int64_t, std::int64_t>
      turn_of_;  // closed: last request of a session -> the client's next one
  std::vector<RequestSpec> free_;
  std::size_t free_at_ = 0;
};

}  // namespace

std::unique_ptr<RequestSource> generate(const GenerateSpec& spec, std::uint64_t seed,
                                        const std::string& folder) {
  Diagnostics diagnostics;
  check(spec, diagnostics, "/workload/generate");
  diagnostics.throw_if_errors();
  return std::make_unique<GeneratedSource>(spec, seed, folder);
}

}  // namespace kvsim::workload
