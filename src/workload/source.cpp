#include "workload/source.h"

namespace kvsim::workload {

bool RequestSource::ended(std::int64_t, Time) { return false; }
bool RequestSource::follow_up(RequestSpec&) { return false; }

}  // namespace kvsim::workload
