#include <nlohmann/json.hpp>

#include "report/conformance.h"
#include "report/json_layout.h"

namespace kvsim::report {

using Json = nlohmann::ordered_json;

std::string conformance_json(const conform::Conformance& conformance) {
  Json out;
  out["schema"] = conformance_schema;
  out["complete"] = conformance.complete;
  out["cases"] = conformance.cases();
  out["matched"] = conformance.matched();
  out["families"] = Json::array();
  for (const conform::FamilyResult& f : conformance.families)
    out["families"].push_back(
        {{"name", f.name}, {"cases", f.cases}, {"matched", f.matched}, {"refused", f.refused}});
  out["first_difference"] = Json();
  if (!conformance.differences.empty()) {
    const conform::Difference& d = conformance.differences.front();
    out["first_difference"] = {{"family", d.family},
                               {"case", d.case_id},
                               {"at", d.at},
                               {"field", d.field},
                               {"expected", Json::parse(d.expected)},
                               {"got", Json::parse(d.got)},
                               {"reason", d.reason.empty() ? Json() : Json(d.reason)}};
  }
  return layout(out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kvsim::report
