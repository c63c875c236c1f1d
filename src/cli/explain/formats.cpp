#include <fmt/format.h>

#include "cli/explain/topic.h"
#include "cost/operators/form.h"
#include "kvformat/kv_dtype.h"

namespace kvsim::cli {

void add_form_topics(std::vector<Topic>& out) {
  for (const cost::Form& form : cost::forms()) {
    std::string text = "parameters:";
    for (const cost::Parameter& p : form.parameters)
      text += fmt::format("\n  {} from {:g} to {:g}", p.name, p.low, p.high);
    text += fmt::format("\ncalibrated range over: {}", fmt::join(form.feature_names, ", "));
    out.push_back({"operator form", fmt::format("{}.{}", form.kernel, form.name),
                   std::string(form.summary), text});
  }
}

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
