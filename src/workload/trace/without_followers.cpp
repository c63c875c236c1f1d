#include <algorithm>
#include <vector>

#include "workload/trace/writer.h"

namespace kvsim::workload {
namespace {

class Sorted final : public RequestSource {
 public:
  Sorted(std::vector<RequestSpec> requests, std::vector<std::string> notes)
      : requests_(std::move(requests)), notes_(std::move(notes)) {}
  bool next(RequestSpec& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  std::vector<RequestSpec> requests_;
  std::vector<std::string> notes_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<RequestSource> without_followers(RequestSource& source) {
  std::vector<RequestSpec> all;
  RequestSpec request;
  while (source.list(request)) all.push_back(request);
  // Leaders first, wherever in the list they stand.
  std::vector<bool> placed(all.size());
  std::vector<std::size_t> chain;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t at = i; !placed[at]; at = static_cast<std::size_t>(all[at].after)) {
      chain.push_back(at);
      if (all[at].after < 0) break;
    }
    for (; !chain.empty(); chain.pop_back()) {
      RequestSpec& r = all[chain.back()];
      if (r.after >= 0)
        r.arrival = std::max(r.arrival, all[static_cast<std::size_t>(r.after)].arrival + r.think);
      placed[chain.back()] = true;
    }
  }
  std::ranges::stable_sort(all, {}, &RequestSpec::arrival);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].index = static_cast<std::int64_t>(i);
  return std::make_unique<Sorted>(std::move(all), source.notes());
}

}  // namespace kvsim::workload
