#include "conform/operations.h"
#include "conform/radix_keys.h"
#include "conform/radix_settings.h"
#include "kv/radix/radix_tree.h"

namespace kvsim::conform {
namespace {

// SGLang's radix cache alone. `lock` looks a key up and locks the path that it found.
class SglangRadix final : public Operations {
 public:
  explicit SglangRadix(const kv::RadixOptions& options) : tree_(options) {}

  void apply(std::string_view name, Arguments& op, Answers& got) override {
    if (name == "insert") insert(op, got);
    if (name == "match") got.set("hit", tree_.match(read_key(op, contents_).view()).length);
    if (name == "lock") {
      std::string held = locks_.fresh(op);
      const kv::RadixMatch found = tree_.match(read_key(op, contents_).view());
      got.set("hit", found.length);
      tree_.lock(found.node);
      locks_.hold(std::move(held), found.node);
    }
    if (name == "unlock") tree_.unlock(locks_.release(op));
    if (name == "evict") {
      Removed removed(contents_);
      got.set("evicted", tree_.evict(op.integer("tokens"), &removed));
      got.set("removed", std::move(removed.leaves));
    }
    if (name == "reset") {
      tree_.reset();
      locks_.clear();
    }
    got.set("total", tree_.total());
    got.set("evictable", tree_.evictable());
    got.set("protected", tree_.protected_units());
    got.set("nodes", tree_.nodes().count());
  }

 private:
  struct Removed final : kv::RadixObserver {
    explicit Removed(const Contents& names) : contents(names) {}
    void removed(const kv::RadixNodes& nodes, kv::NodeId node) override {
      leaves.push_back(spans_of(nodes, node, contents));
    }
    const Contents& contents;
    Answer::List leaves;
  };

  void insert(Arguments& op, Answers& got) {
    const kv::RadixKey key = read_key(op, contents_);
    const std::int64_t priority = read_priority(op);
    got.set("prefix", tree_.insert(key.view(), priority, read_insert_kind(op)).prefix);
  }

  Contents contents_;
  kv::RadixTree tree_;
  NamedLocks<kv::NodeId> locks_;
};

}  // namespace

std::unique_ptr<Operations> make_sglang_radix(Arguments& settings) {
  kv::RadixOptions options;
  options.page_size = read_page_size(settings);
  options.policy = read_eviction_policy(settings, "policy");
  if (settings.flag("bigram", false)) options.unit = kv::KeyUnit::bigram;
  return std::make_unique<SglangRadix>(options);
}

}  // namespace kvsim::conform
