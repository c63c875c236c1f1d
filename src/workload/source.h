#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workload/request.h"

namespace kvsim::workload {

// Delivers requests in order of arrival, one at a time.
//
// Contract: next() gives the requests whose arrival does not depend on the simulation; their
// arrivals do not decrease. A request that follows another (multi-turn chats, `after`, closed
// loops) is kept by the source until ended() names its predecessor; follow_up() then gives it, with
// arrival = max(its own earliest arrival, end + think). A source keeps memory in the size of its
// look-ahead, not of the trace, unless its format needs more (format `kvsim`: O(requests)).
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  // Fills `request` (its buffers are reused) and answers true; false at the end.
  virtual bool next(RequestSpec& request) = 0;
  // The request of that index has ended (or was rejected) at `end`. Answers whether follow_up()
  // has something to give. Default: nothing ever follows.
  virtual bool ended(std::int64_t index, Time end);
  // The next request that became free through ended(); false when there is none left.
  virtual bool follow_up(RequestSpec& request);
  // Every request in order of index, those that follow others included, with their own earliest
  // arrival: what is read to describe or copy a workload instead of running it. A source is read
  // through list() or through next(), not both.
  virtual bool list(RequestSpec& request) { return next(request); }
  // Requests still to come, -1 = not known.
  virtual std::int64_t remaining() const { return -1; }
  // Remarks for the report ("the trace has no prefix ids: no sharing").
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace kvsim::workload
