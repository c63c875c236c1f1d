#include "conform/operations.h"
#include "conform/radix_keys.h"
#include "conform/radix_settings.h"
#include "kv/radix/window_tree.h"

namespace kvsim::conform {
namespace {

// SGLang's prefix tree for full and sliding-window attention alone.
class SglangSwaradix final : public Operations {
 public:
  explicit SglangSwaradix(const kv::WindowOptions& options) : tree_(options) {}

  void apply(std::string_view name, Arguments& op, Answers& got) override {
    if (name == "insert") got.set("prefix", tree_.insert(read_key(op, contents_).view()));
    if (name == "match") got.set("hit", tree_.match(read_key(op, contents_).view()).length);
    if (name == "lock") {
      std::string held = locks_.fresh(op);
      const kv::WindowTree::Match found = tree_.match(read_key(op, contents_).view());
      got.set("hit", found.length);
      locks_.hold(std::move(held), tree_.lock(found.node));
    }
    if (name == "unlock") tree_.unlock(locks_.release(op));
    if (name == "evict") {
      const std::int64_t tokens = op.integer("tokens");
      const kv::WindowTree::Evicted evicted = tree_.evict(tokens, op.integer("swa_tokens"));
      got.set("evicted", evicted.full);
      got.set("swa_evicted", evicted.window);
    }
    if (name == "reset") {
      tree_.reset();
      locks_.clear();
    }
    got.set("full_evictable", tree_.full().evictable);
    got.set("full_protected", tree_.full().locked);
    got.set("full_used", tree_.full().used());
    got.set("swa_evictable", tree_.window().evictable);
    got.set("swa_protected", tree_.window().locked);
    got.set("swa_used", tree_.window().used());
  }

 private:
  Contents contents_;
  kv::WindowTree tree_;
  NamedLocks<kv::WindowLock> locks_;
};

}  // namespace

std::unique_ptr<Operations> make_sglang_swaradix(Arguments& settings) {
  kv::WindowOptions options;
  options.page_size = read_page_size(settings);
  options.window = settings.integer("window", 1);
  if (settings.flag("split_leaf_on_insert", false)) options.leaf_split = kv::LeafSplit::on_insert;
  if (settings.flag("bigram", false)) options.unit = kv::KeyUnit::bigram;
  return std::make_unique<SglangSwaradix>(options);
}

}  // namespace kvsim::conform
