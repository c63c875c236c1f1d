#include "kernels/host/launch_record.h"

namespace kvsim::kernels {
namespace {

thread_local LaunchRecord* innermost = nullptr;

}  // namespace

LaunchRecord::LaunchRecord() : outer_(innermost) { innermost = this; }
LaunchRecord::~LaunchRecord() { innermost = outer_; }
LaunchRecord* LaunchRecord::listening() { return innermost; }

}  // namespace kvsim::kernels
