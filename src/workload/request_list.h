#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/source.h"
#include "workload/trace/options.h"

namespace kvsim::workload {

// Requests held in memory, packed: 40 bytes each, 16 per span, the bytes of the id, and 56 more for
// those with a priority, salt, adapter, session or predecessor. A request that follows another
// waits until ended() names that one, however late in the list it stands.
class RequestList final : public RequestSource {
 public:
  // Adds a request after those already there (`spec.index` is not read); `spec.after` may name a
  // later one. Arrivals of requests without predecessor must not decrease.
  void add(const RequestSpec& spec);
  // Leaves only what the slice takes, renumbered. Before the first next().
  void select(const Slice& slice);
  // To be called once when all is added: links followers to what they follow.
  void link();

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
  std::string_view id(std::int64_t index) const;
  std::int64_t after(std::int64_t index) const;
  void set_after(std::int64_t index, std::int64_t after);

  bool next(RequestSpec& request) override;
  bool ended(std::int64_t index, Time end) override;
  bool follow_up(RequestSpec& request) override;
  bool list(RequestSpec& request) override;
  std::int64_t remaining() const override { return roots_left_ + followers_left_; }

 private:
  static constexpr std::uint32_t no_extra = UINT32_MAX;
  struct Row {
    std::int64_t arrival_ns = 0;
    std::uint64_t name = 0;  // where id and session start in names_
    std::uint32_t span = 0;  // the first one; the next row's ends them
    std::uint32_t extra = no_extra;
    std::int32_t output = 0, max = 0;
    std::uint32_t id_size = 0;
    std::int32_t prompt = 0;
  };
  struct PackedSpan {
    std::uint64_t content;
    std::int32_t offset, length;
  };
  struct Extra {
    std::int64_t priority = 0;
    std::uint64_t salt = 0, adapter = 0;
    std::int64_t think_ns = 0;
    std::int64_t after = -1;
    std::uint32_t session_size = 0;
  };
  struct Follower {
    std::int64_t leader, index;
    friend auto operator<=>(const Follower&, const Follower&) = default;
  };
  struct Freed {
    std::int64_t index, arrival_ns;
  };
  void fill(std::int64_t index, RequestSpec& request) const;
  std::vector<bool> taken_by(const Slice& slice) const;

  std::vector<Row> rows_;
  std::vector<PackedSpan> spans_;
  std::vector<Extra> extras_;
  std::string names_;
  std::vector<Follower> followers_;  // sorted
  std::vector<Freed> freed_;         // waiting for follow_up(), from freed_at_
  std::size_t freed_at_ = 0;
  std::int64_t at_ = 0;
  std::int64_t roots_left_ = 0, followers_left_ = 0;
};

}  // namespace kvsim::workload
