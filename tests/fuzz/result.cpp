#include <string>

#include "config/document.h"
#include "diag/check.h"
#include "fuzz/targets.h"
#include "report/json.h"

namespace kvsim::fuzz {

void result(std::string_view text) {
  const auto read = report::read_result(config::Document::parse(std::string(text), "input"));
  const std::string once = report::to_json(read);
  const std::string twice =
      report::to_json(report::read_result(config::Document::parse(once, "written")));
  KVSIM_CHECK(once == twice, "a result changes when it is written and read");
}

}  // namespace kvsim::fuzz
