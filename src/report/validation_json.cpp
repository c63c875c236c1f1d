#include <nlohmann/json.hpp>

#include "report/json_layout.h"
#include "report/validation.h"

namespace kvsim::report {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& out, const calibrate::ErrorSummary& e) {
  out["n"] = e.n;
  const auto error = [&](double value) { return e.n > 0 ? Json(value) : Json(); };
  out["mape"] = error(e.mape);
  out["median_ape"] = error(e.median_ape);
  out["p90_ape"] = error(e.p90_ape);
  out["bias"] = error(e.bias);
}

}  // namespace

std::string validation_json(const calibrate::Validation& validation) {
  Json out;
  out["schema"] = validation_schema;
  out["source"] = validation.source;
  out["rows"] = validation.rows;
  out["holdout"] = validation.holdout > 0 ? Json(validation.holdout) : Json();
  out["groups"] = Json::array();
  for (const calibrate::GroupErrors& g : validation.groups) {
    Json group{
        {"kernel", g.kernel}, {"gpu", g.gpu}, {"framework", g.framework}, {"dtype", g.dtype}};
    group["kv_dtype"] = g.kv_dtype.empty() ? Json() : Json(g.kv_dtype);
    group["regime"] = g.regime.empty() ? Json() : Json(g.regime);
    put(group, g.errors);
    group["source"] = g.source;
    group["donor"] = g.donor.empty() ? Json() : Json(g.donor);
    group["coverage_90"] = g.coverage_90 ? Json(*g.coverage_90) : Json();
    group["target_mape"] = g.target ? Json(*g.target) : Json();
    group["reference_mape"] = g.reference ? Json(*g.reference) : Json();
    out["groups"].push_back(std::move(group));
  }
  out["overall"] = Json::object();
  put(out["overall"], validation.overall);
  out["serving"] = Json::array();
  for (const calibrate::ServingSummary& s : validation.serving)
    out["serving"].push_back({{"kernel", s.kernel},
                              {"part", s.part},
                              {"n", s.n},
                              {"median_ape", s.median_ape},
                              {"bias", s.bias},
                              {"within_20", s.within_20},
                              {"discrepancy", s.discrepancy},
                              {"coverage_90", s.coverage_90 ? Json(*s.coverage_90) : Json()}});
  out["hosts"] = Json::array();
  for (const auto& h : validation.hosts) {
    const cost::HostProfile& p = h.entry.profile;
    out["hosts"].push_back({{"group", h.group},
                            {"rows", h.entry.rows},
                            {"decode_scale", p.decode_scale},
                            {"prefill_scale", p.prefill_scale},
                            {"step_us", p.step_us},
                            {"sequence_us", p.sequence_us},
                            {"prefill_us", p.prefill_us},
                            {"request_us", p.request_us}});
  }
  out["skipped"] = Json::array();
  for (const calibrate::SkippedRows& s : validation.skipped)
    out["skipped"].push_back({{"kernel", s.kernel}, {"reason", s.reason}, {"n", s.n}});
  out["conditions"] = Json::array();
  for (const calibrate::Condition& c : validation.conditions)
    out["conditions"].push_back({{"kernel", c.kernel}, {"condition", c.text}});
  return layout(out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kvsim::report
