#include "kernels/simt/async.h"

#include <cstring>
#include <string>

#include "kernels/simt/block_runner.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

bool aligned16(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

void land(const PendingCopy& copy) {
  sanitizers::note_write16(copy.shared);
  if (copy.global == nullptr) {
    std::memset(copy.shared, 0, 16);
    return;
  }
  sanitizers::note_read16(copy.global);
  sanitizers::check_read(copy.global, 16);
  std::memcpy(copy.shared, copy.global, 16);
}

}  // namespace

void async_copy16(void* shared, const void* global, bool valid, Site site) {
  const sanitizers::Frame frame(__builtin_return_address(0));
  if (!aligned16(shared) || (valid && !aligned16(global)))
    fail("cp.async of an address that is not aligned to 16 bytes at " + text(site));
  current->runner->require_shared(shared, 16, "cp.async", site);
  if (valid && current->accounting != nullptr) current->accounting->read(global, 16, site);
  const PendingCopy copy{shared, valid ? global : nullptr};
  if (current->runner->lands_early())
    land(copy);
  else
    self().copies.push_back(copy);
}

void async_commit() {
  Fiber& fiber = self();
  fiber.groups.push_back({fiber.copies.size()});
}

void async_wait(unsigned groups_in_flight) {
  const sanitizers::Frame frame(__builtin_return_address(0));
  Fiber& fiber = self();
  while (fiber.groups.size() - fiber.waited > groups_in_flight) {
    const std::size_t end = fiber.groups[fiber.waited++].copies;
    while (fiber.landed < end) land(fiber.copies[fiber.landed++]);
  }
  if (fiber.waited == fiber.groups.size() && fiber.landed == fiber.copies.size()) {
    fiber.copies.clear();
    fiber.groups.clear();
    fiber.landed = fiber.waited = 0;
  }
}

}  // namespace kvsim::simt
