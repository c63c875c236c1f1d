#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workload/request.h"

namespace kvsim::workload {

// Delivers requests in order of arrival, one at a time.
//
// Contract: arrivals of successive next() do not decrease, except that requests with `after` >= 0
// come at the position where the file has them and are held by the cluster until their
// predecessor (named by its index in delivery order) has ended. A source keeps memory in the size
// of its look-ahead, not of the trace, unless its format needs more (format `kvsim`: O(requests)).
class RequestSource {
 public:
  virtual ~RequestSource() = default;
  // Fills `request` (its buffers are reused) and answers true; false at the end.
  virtual bool next(RequestSpec& request) = 0;
  // Tells the source that request `index` has ended at `end`; sources that produce follow-ups
  // (closed loop, sessions) answer with the number of requests that became available for next(),
  // whose arrival is then >= end. Default: none.
  virtual int ended(std::int64_t index, Time end);
  // Requests still to come, -1 = not known.
  virtual std::int64_t remaining() const { return -1; }
  // Remarks for the report ("the trace has no prefix ids: no sharing").
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace kvsim::workload
