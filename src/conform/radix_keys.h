#pragma once
#include <map>
#include <string>
#include <utility>

#include "conform/answer.h"
#include "conform/arguments.h"
#include "kv/radix/radix_key.h"
#include "kv/radix/radix_nodes.h"

// What the adapters of the three prefix trees have in common: keys, runs and named locks.
namespace kvsim::conform {

// The operation's `spans` under its `salt`.
kv::RadixKey read_key(Arguments& op, Contents& contents);

// A node's tokens as recorded: [content, length, offset] each.
Answer spans_of(const kv::RadixNodes& nodes, kv::NodeId node, const Contents& contents);

// Locks by the names that a record gives them. Throws InputError for a name that is taken, and for
// one that is not.
template <class Lock>
class NamedLocks {
 public:
  // Before anything is locked.
  std::string fresh(Arguments& op) const {
    std::string name = op.text("name");
    if (held_.contains(name))
      op.invalid("name", "conform-order", "lock \"" + name + "\" is held already");
    return name;
  }
  void hold(std::string name, Lock lock) { held_.emplace(std::move(name), std::move(lock)); }
  Lock release(Arguments& op) {
    const std::string name = op.text("name");
    const auto found = held_.find(name);
    if (found == held_.end())
      op.invalid("name", "conform-order", "lock \"" + name + "\" is not held");
    Lock lock = std::move(found->second);
    held_.erase(found);
    return lock;
  }
  void clear() { held_.clear(); }

 private:
  std::map<std::string, Lock> held_;
};

}  // namespace kvsim::conform
