#include <fmt/format.h>

#include "cli/explain/topic.h"
#include "kvformat/kv_dtype.h"

namespace kvsim::cli {

void add_format_topics(std::vector<Topic>& out) {
  for (const kvformat::KvDtype& t : kvformat::kv_dtypes()) {
    std::string text = fmt::format("{} bits per element", t.bits_per_element());
    if (t.group_size > 0)
      text += fmt::format(": {} of payload and {} of scale for every {} elements", t.bits,
                          t.scale_bits, t.group_size);
    out.push_back({"KV dtype", std::string(t.name), std::string(t.summary), text});
  }
}

}  // namespace kvsim::cli
