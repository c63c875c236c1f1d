#pragma once
#include <optional>

#include "metrics/request_record.h"

namespace kvsim::metrics {

// Limits that a good request keeps, in milliseconds; one that is absent limits nothing.
struct Slo {
  std::optional<double> ttft_ms, tpot_ms, e2el_ms;

  bool given() const { return ttft_ms || tpot_ms || e2el_ms; }
  // A request of one output token counts a TPOT of 0, as `vllm bench serve --goodput` does.
  bool met_by(const RequestRecord& r) const {
    return (!ttft_ms || to_ms(ttft(r)) <= *ttft_ms) &&
           (!tpot_ms || metrics::tpot_ms(r) <= *tpot_ms) && (!e2el_ms || to_ms(e2e(r)) <= *e2el_ms);
  }
};

}  // namespace kvsim::metrics
