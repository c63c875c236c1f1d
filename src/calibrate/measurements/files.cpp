#include "calibrate/measurements/files.h"

#include <fmt/format.h>

#include "calibrate/measurements/kinds.h"
#include "calibrate/measurements/kvbench.h"
#include "config/csv.h"
#include "config/document.h"
#include "random/stream.h"

namespace kvsim::calibrate {
namespace {

using Each = std::function<void(MeasuredRow&&)>;

bool is_json(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

void read_csv(std::string text, const std::string& name, const Each& each,
              Diagnostics& diagnostics) {
  config::CsvReader csv = config::CsvReader::from_text(std::move(text), name);
  const Kind& kind = recognise(csv);
  const Row row(csv);
  const auto latency = csv.column("latency_us");
  while (csv.next()) {
    MeasuredRow out;
    try {
      out.measurement = kind.read(row);
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) diagnostics.add(d);
      continue;
    }
    out.place = fmt::format("{}:{}", name, csv.line());
    for (std::size_t i = 0; i < csv.cells().size(); ++i)
      if (i != latency) out.key = random::mix(out.key, random::hash_name(csv.cell(i)));
    each(std::move(out));
  }
}

}  // namespace

void read_measurements(std::vector<MeasurementFile> files, const Each& each) {
  Diagnostics diagnostics;
  for (MeasurementFile& file : files) {
    try {
      if (!is_json(file.text)) {
        read_csv(std::move(file.text), file.name, each, diagnostics);
        continue;
      }
      const auto document =
          config::Document::parse(std::move(file.text), file.name, config::Comments::forbidden);
      std::uint64_t index = 0;
      for (BenchRow& row : read_kvbench(document))
        each({std::move(row.measurement), std::move(row.place),
              random::mix(random::hash_name("kvbench"), index++)});
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) diagnostics.add(d);
    }
  }
  diagnostics.throw_if_errors();
}

std::vector<MeasurementFile> load_measurement_files(const std::vector<std::string>& paths) {
  std::vector<MeasurementFile> files;
  for (const std::string& path : paths)
    files.push_back({path == "-" ? "<stdin>" : path, config::read_file(path)});
  return files;
}

bool is_held_out(std::uint64_t key, double share, std::uint64_t seed) {
  constexpr std::uint64_t parts = 1'000'000;
  return static_cast<double>(random::mix(seed, key) % parts) < share * static_cast<double>(parts);
}

}  // namespace kvsim::calibrate
