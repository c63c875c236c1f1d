#include "workload/retimed.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "random/stream.h"

namespace kvsim::workload {
namespace {

class OpenRetimed final : public RequestSource {
 public:
  OpenRetimed(std::unique_ptr<RequestSource> source, const ArrivalSpec& arrival, std::uint64_t seed,
              std::optional<std::int64_t> count)
      : source_(std::move(source)), times_(arrival, seed, count) {}
  bool next(RequestSpec& request) override {
    if (!source_->next(request)) return false;
    request.arrival = times_.next();
    return true;
  }
  bool list(RequestSpec& request) override {
    if (!source_->list(request)) return false;
    if (request.after < 0) request.arrival = times_.next();
    return true;
  }
  bool ended(std::int64_t index, Time end) override { return source_->ended(index, end); }
  bool follow_up(RequestSpec& request) override { return source_->follow_up(request); }
  std::int64_t remaining() const override { return source_->remaining(); }
  std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  std::unique_ptr<RequestSource> source_;
  ArrivalTimes times_;
};

class ClosedRetimed final : public RequestSource {
 public:
  ClosedRetimed(std::unique_ptr<RequestSource> source, const ArrivalSpec& arrival,
                std::uint64_t seed)
      : source_(std::move(source)), arrival_(arrival), seed_(seed) {}

  bool next(RequestSpec& request) override {
    if (started_ == *arrival_.clients || !source_->next(request)) return false;
    ++started_;
    request.arrival = Time(0);
    roots_.insert(request.index);
    return true;
  }
  bool ended(std::int64_t index, Time end) override {
    const bool follower = source_->ended(index, end);
    if (roots_.erase(index) > 0) {
      RequestSpec root;
      if (source_->next(root)) {
        random::Stream stream(seed_, "client", static_cast<std::uint64_t>(root.index));
        root.think = arrival_.think ? draw(*arrival_.think, stream) : Duration(0);
        root.arrival = end + root.think, root.after = index;
        roots_.insert(root.index);
        free_.push_back(std::move(root));
      }
    }
    return follower || !free_.empty();
  }
  bool follow_up(RequestSpec& request) override {
    if (source_->follow_up(request)) return true;
    if (free_.empty()) return false;
    request = std::move(free_.back());
    free_.pop_back();
    return true;
  }
  std::int64_t remaining() const override { return source_->remaining(); }
  std::vector<std::string> notes() const override { return source_->notes(); }

 private:
  std::unique_ptr<RequestSource> source_;
  ArrivalSpec arrival_;
  std::uint64_t seed_;
  std::int64_t started_ = 0;
  std::unordered_set<std::int64_t> roots_;  // running requests that occupy a client
  std::vector<RequestSpec> free_;           // at most one per call of ended()
};

}  // namespace

std::unique_ptr<RequestSource> retimed(std::unique_ptr<RequestSource> source,
                                       const ArrivalSpec& arrival, std::uint64_t seed) {
  if (arrival.kind == ArrivalKind::closed)
    return std::make_unique<ClosedRetimed>(std::move(source), arrival, seed);
  std::optional<std::int64_t> count;
  if (arrival.rescale) {
    if (source->remaining() < 0) {
      Diagnostic d;
      d.code = "workload-arrival", d.pointer = "/workload/arrival/rescale";
      d.message =
          "rescale needs to know how many requests there are: this trace is read while it is "
          "played";
      throw InputError(std::move(d));
    }
    count = source->remaining();
  }
  return std::make_unique<OpenRetimed>(std::move(source), arrival, seed, count);
}

}  // namespace kvsim::workload
