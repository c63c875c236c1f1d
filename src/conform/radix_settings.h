#pragma once
#include <cstdint>
#include <string_view>

#include "conform/arguments.h"
#include "kv/radix/radix_tree.h"

// Settings and arguments that the cases of several prefix trees share.
namespace kvsim::conform {

std::int64_t read_page_size(Arguments& settings);
// A word of SGLang's radix_eviction_policy.
kv::RadixEviction read_eviction_policy(Arguments& settings, std::string_view key);
// `chunked`: the insert of a chunked prefill that goes on.
kv::InsertKind read_insert_kind(Arguments& op);
std::int64_t read_priority(Arguments& op);  // 0 where absent

}  // namespace kvsim::conform
