#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/shape_of.h"
#include "calibrate/measurements/kinds.h"
#include "config/csv.h"
#include "config/document.h"
#include "random/stream.h"
#include "spec/catalog.h"

namespace kvsim::calibrate {

struct Published {
  std::vector<Sample> fitted, left;  // two thirds and one
};
inline std::map<OperatorKey, Published> published(const std::string& path) {
  std::map<OperatorKey, Published> groups;
  auto csv = config::CsvReader::from_text(config::read_file(path), path);
  const Kind& kind = recognise(csv);
  const Row row(csv);
  for (std::uint64_t n = 0; csv.next(); ++n) {
    const Measurement m = kind.read(row);
    Published& g = groups[key_of(m)];
    (random::mix(7, n) % 3 == 0 ? g.left : g.fitted)
        .push_back({shape_of(m).shape, 1e6 * m.figures[0].value});
  }
  return groups;
}

// Mean error of two thirds' fits on the other third, over the groups of a published file.
inline double held_out_error(const std::string& path, std::int64_t* rows) {
  double sum = 0;
  *rows = 0;
  for (const auto& [key, g] : published(path)) {
    const cost::Device d = cost::device_of(spec::Catalog().gpu(key.gpu));
    const cost::OperatorModel model(fit_operator(key.kernel, g.fitted, d), d);
    const cost::FitErrors e = errors_of(model, g.left);
    sum += e.mape * static_cast<double>(e.n), *rows += e.n;
  }
  return sum / static_cast<double>(*rows);
}

}  // namespace kvsim::calibrate
