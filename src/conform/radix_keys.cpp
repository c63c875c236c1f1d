#include "conform/radix_keys.h"

namespace kvsim::conform {

kv::RadixKey read_key(Arguments& op, Contents& contents) {
  const std::string salt = op.text("salt", "");
  kv::RadixKey key(salt.empty() ? 0 : contents.id(salt));
  for (const kv::TokenRun& run : op.runs("spans", contents)) key.append(run);
  return key;
}

Answer spans_of(const kv::RadixNodes& nodes, kv::NodeId node, const Contents& contents) {
  Answer::List spans;
  for (const kv::TokenRun& run : nodes.tokens(node))
    spans.emplace_back(Answer::List{contents.name(run.content), run.length, run.offset});
  return spans;
}

}  // namespace kvsim::conform
