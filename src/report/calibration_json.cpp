#include <nlohmann/json.hpp>

#include "calibrate/targets.h"
#include "report/calibration.h"
#include "report/json_layout.h"

namespace kvsim::report {
namespace {

using Json = nlohmann::ordered_json;

Json errors(const cost::FitErrors& e) {
  if (e.n == 0) return nullptr;
  return {{"n", e.n},
          {"mape", e.mape},
          {"median_ape", e.median_ape},
          {"p90_ape", e.p90_ape},
          {"bias", e.bias}};
}

Json operator_json(const calibrate::OperatorCalibration& o) {
  Json out{{"profile", calibrate::profile_id(o.key)},
           {"kernel", o.key.kernel},
           {"gpu", o.key.gpu},
           {"framework", o.key.framework},
           {"version", o.key.version},
           {"backend", o.key.backend},
           {"dtype", o.key.dtype}};
  out["kv_dtype"] = o.key.kv_dtype.empty() ? Json() : Json(o.key.kv_dtype);
  out["regime"] = o.key.regime.empty() ? Json() : Json(o.key.regime);
  out["form"] = o.fit.form;
  out["tables"] = o.fit.tables.size();
  out["fitted"] = errors(o.fit.errors);
  out["holdout"] = errors(o.fit.holdout);
  out["roofline"] = errors(o.roofline);
  const auto reference = calibrate::reference_of(o.key);
  out["reference_mape"] = reference ? Json(reference->best()) : Json();
  const auto target = calibrate::target_of(o.key.kernel, o.key.dtype);
  out["target_mape"] = target ? Json(*target) : Json();
  out["coverage_90"] = o.fit.holdout.n > 0 ? Json(o.coverage) : Json();
  out["by_time"] = Json::array();
  for (const calibrate::Regime& r : o.regimes) {
    Json band{{"calls", r.name}};
    band.update(errors(r.errors));
    out["by_time"].push_back(std::move(band));
  }
  out["far_off"] = o.outliers;
  out["worst"] = Json::array();
  for (const calibrate::Outlier& w : o.worst)
    out["worst"].push_back({{"row", w.place},
                            {"measured_us", w.measured_us},
                            {"fitted_us", w.fitted_us},
                            {"factor", w.factor()}});
  return out;
}

}  // namespace

std::string calibration_json(const calibrate::Calibration& c) {
  Json out;
  out["schema"] = calibration_schema;
  out["rows"] = c.rows;
  out["operators"] = Json::array();
  for (const calibrate::OperatorCalibration& o : c.operators)
    out["operators"].push_back(operator_json(o));
  out["skipped"] = Json::array();
  for (const calibrate::SkippedRows& s : c.skipped)
    out["skipped"].push_back(
        {{"kernel", s.kernel}, {"reason", s.reason}, {"n", s.n}, {"first", s.first}});
  return layout(out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kvsim::report
