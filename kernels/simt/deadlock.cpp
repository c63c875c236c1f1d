#include <map>
#include <sstream>

#include "kernels/simt/block_runner.h"

namespace kvsim::simt {
namespace {

// "0-3, 7"
std::string ranges(const std::vector<unsigned>& lanes) {
  std::string out;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t end = i + 1;
    while (end < lanes.size() && lanes[end] == lanes[end - 1] + 1) ++end;
    if (!out.empty()) out += ", ";
    out += std::to_string(lanes[i]);
    if (end - i > 1) out += "-" + std::to_string(lanes[end - 1]);
    i = end;
  }
  return out;
}

}  // namespace

std::string BlockRunner::where() const {
  std::ostringstream out;
  out << "block (" << block_.index.x << "," << block_.index.y << "," << block_.index.z << ")";
  return out.str();
}

std::string BlockRunner::deadlock_report() const {
  // Threads that wait for the same thing are one line.
  std::map<std::string, std::vector<unsigned>> groups;
  for (unsigned i = 0; i < block_.threads; ++i) {
    const Fiber& fiber = *fibers_[i];
    std::ostringstream line;
    if (fiber.done) {
      line << "exited";
    } else {
      line << "wait at " << fiber.waiting.op << " at " << fiber.waiting.site.file << ":"
           << fiber.waiting.site.line;
      if (fiber.waiting.mask != 0) line << ", mask 0x" << std::hex << fiber.waiting.mask;
    }
    groups[line.str()].push_back(i);
  }
  std::string out = where() + ": deadlock";
  for (const auto& [what, lanes] : groups) out += "\n  threads " + ranges(lanes) + " " + what;
  return out;
}

}  // namespace kvsim::simt
