#include <fmt/format.h>

#include "workload/generate/kinds.h"

namespace kvsim::workload {
namespace {

class Independent final : public RequestKind {
 public:
  explicit Independent(const Draws& draws) : draws_(draws) {}

  void build(std::int64_t, std::int64_t base, std::int64_t,
             std::vector<RequestSpec>& out) const override {
    out.assign(1, {});
    RequestSpec& r = out[0];
    r.index = base;
    r.id = fmt::format("r{}", base);
    if (const auto system = draws_.system_prompt(base)) r.prompt.push_back(*system);
    append_span(r.prompt, {content_id(r.id), 0, draws_.input(base)});
    r.output_tokens = draws_.output(base);
    r.max_tokens = draws_.limit(r.output_tokens);
    finish_prompt(r);
  }

 private:
  const Draws& draws_;
};

}  // namespace

std::unique_ptr<RequestKind> make_independent(const GenerateSpec&, const Draws& draws,
                                              const std::string&) {
  return std::make_unique<Independent>(draws);
}

}  // namespace kvsim::workload
