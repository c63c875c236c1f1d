#include "workload/request_list.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "diag/check.h"

namespace kvsim::workload {
namespace {

std::int32_t narrow(std::int64_t value) {
  KVSIM_CHECK(value >= 0 && value <= std::numeric_limits<std::int32_t>::max(),
              "{} tokens in one request", value);
  return static_cast<std::int32_t>(value);
}

}  // namespace

void RequestList::add(const RequestSpec& spec) {
  KVSIM_CHECK(spans_.size() + spec.prompt.size() < std::numeric_limits<std::uint32_t>::max(),
              "over 4 billion spans");
  Row row;
  row.arrival_ns = spec.arrival.nanoseconds();
  row.name = names_.size();
  row.id_size = static_cast<std::uint32_t>(spec.id.size());
  row.span = static_cast<std::uint32_t>(spans_.size());
  row.prompt = narrow(spec.prompt_tokens);
  row.output = narrow(spec.output_tokens), row.max = narrow(spec.max_tokens);
  names_ += spec.id;
  for (const Span& span : spec.prompt)
    spans_.push_back({span.content, narrow(span.offset), narrow(span.length)});
  if (spec.priority != 0 || spec.salt != 0 || spec.adapter != 0 || !spec.session.empty() ||
      spec.after >= 0 || spec.think.value() != 0) {
    row.extra = static_cast<std::uint32_t>(extras_.size());
    extras_.push_back({spec.priority, spec.salt, spec.adapter, spec.think.value(), spec.after,
                       static_cast<std::uint32_t>(spec.session.size())});
    names_ += spec.session;
  }
  rows_.push_back(row);
}

std::string_view RequestList::id(std::int64_t index) const {
  const Row& row = rows_[static_cast<std::size_t>(index)];
  return std::string_view(names_).substr(row.name, row.id_size);
}

std::int64_t RequestList::after(std::int64_t index) const {
  const Row& row = rows_[static_cast<std::size_t>(index)];
  return row.extra == no_extra ? -1 : extras_[row.extra].after;
}

void RequestList::set_after(std::int64_t index, std::int64_t after) {
  Row& row = rows_[static_cast<std::size_t>(index)];
  if (row.extra == no_extra) {
    row.extra = static_cast<std::uint32_t>(extras_.size());
    extras_.emplace_back();
  }
  extras_[row.extra].after = after;
}

void RequestList::link() {
  followers_.clear();
  for (std::int64_t i = 0; i < size(); ++i)
    if (after(i) >= 0) followers_.push_back({after(i), i});
  std::ranges::sort(followers_);
  followers_left_ = static_cast<std::int64_t>(followers_.size());
  roots_left_ = size() - followers_left_;
}

std::vector<bool> RequestList::taken_by(const Slice& slice) const {
  const auto count = static_cast<std::size_t>(size());
  enum Fate : char { open, out, in };
  std::vector<Fate> fate(count, open);
  std::vector<std::size_t> chain;
  // Gives every follower its leader's fate, wherever in the list that one stands; `decide` gives a
  // request its own, or `open`.
  const auto settle = [&](const auto& decide) {
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t at = i;
      for (;;) {
        if (fate[at] == open) fate[at] = decide(at);
        if (fate[at] != open) break;
        chain.push_back(at);
        at = static_cast<std::size_t>(after(static_cast<std::int64_t>(at)));
      }
      for (const std::size_t follower : chain) fate[follower] = fate[at];
      chain.clear();
    }
  };
  settle([&](std::size_t i) {
    if (after(static_cast<std::int64_t>(i)) >= 0) return open;
    const std::int64_t t = rows_[i].arrival_ns;
    return t >= slice.start.value() && (!slice.end || t < slice.end->value()) ? in : out;
  });
  if (slice.max_requests) {
    std::int64_t left = *slice.max_requests;
    std::vector<bool> cut(count);
    for (std::size_t i = 0; i < count; ++i) cut[i] = fate[i] == out || left-- <= 0;
    std::ranges::fill(fate, open);
    settle([&](std::size_t i) {
      return cut[i] ? out : after(static_cast<std::int64_t>(i)) >= 0 ? open : in;
    });
  }
  std::vector<bool> taken(count);
  for (std::size_t i = 0; i < count; ++i) taken[i] = fate[i] == in;
  return taken;
}

void RequestList::select(const Slice& slice) {
  if (slice.is_everything()) return;
  const std::vector<bool> taken = taken_by(slice);
  std::vector<std::int64_t> renumbered(taken.size(), -1);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (taken[i]) renumbered[i] = count++;
  RequestList kept;
  RequestSpec spec;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) continue;
    fill(static_cast<std::int64_t>(i), spec);
    if (spec.after >= 0) spec.after = renumbered[static_cast<std::size_t>(spec.after)];
    spec.arrival = sliced_time(slice, spec.arrival);
    kept.add(spec);
  }
  *this = std::move(kept);
}

void RequestList::fill(std::int64_t index, RequestSpec& request) const {
  const auto i = static_cast<std::size_t>(index);
  const Row& row = rows_[i];
  request.index = index;
  request.id.assign(names_, row.name, row.id_size);
  request.arrival = Time(row.arrival_ns);
  request.prompt.clear();
  const std::size_t stop = i + 1 < rows_.size() ? rows_[i + 1].span : spans_.size();
  for (std::size_t s = row.span; s < stop; ++s)
    request.prompt.push_back({spans_[s].content, spans_[s].offset, spans_[s].length});
  request.prompt_tokens = row.prompt;
  request.output_tokens = row.output, request.max_tokens = row.max;
  const Extra extra = row.extra == no_extra ? Extra{} : extras_[row.extra];
  request.priority = extra.priority, request.salt = extra.salt;
  request.adapter = extra.adapter;
  request.after = extra.after, request.think = Duration(extra.think_ns);
  request.session.assign(names_, row.name + row.id_size, extra.session_size);
}

bool RequestList::next(RequestSpec& request) {
  while (at_ < size() && after(at_) >= 0) ++at_;
  if (at_ == size()) return false;
  fill(at_++, request);
  --roots_left_;
  return true;
}

bool RequestList::ended(std::int64_t index, Time end) {
  auto at = std::ranges::lower_bound(followers_, Follower{index, -1});
  for (; at != followers_.end() && at->leader == index; ++at) {
    const Row& row = rows_[static_cast<std::size_t>(at->index)];
    const Time free = end + Duration(extras_[row.extra].think_ns);
    freed_.push_back({at->index, std::max(row.arrival_ns, free.nanoseconds())});
  }
  return freed_at_ < freed_.size();
}

bool RequestList::follow_up(RequestSpec& request) {
  if (freed_at_ == freed_.size()) return false;
  fill(freed_[freed_at_].index, request);
  request.arrival = Time(freed_[freed_at_].arrival_ns);
  if (++freed_at_ == freed_.size()) freed_.clear(), freed_at_ = 0;
  --followers_left_;
  return true;
}

bool RequestList::list(RequestSpec& request) {
  if (at_ == size()) return false;
  fill(at_++, request);
  return true;
}

}  // namespace kvsim::workload
