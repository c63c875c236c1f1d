#include "cli/check/file_kinds.h"

#include <fmt/format.h>

#include <filesystem>

#include "config/echo.h"
#include "cost/library/cost_document.h"
#include "cost/step/host_table.h"
#include "diag/suggest.h"
#include "report/json.h"
#include "scenario/load.h"
#include "spec/catalog.h"
#include "spec/gpu_spec.h"
#include "spec/hf_config.h"
#include "spec/model_spec.h"
#include "units/format.h"
#include "workload/generate/spec.h"
#include "workload/trace/format.h"

namespace kvsim::cli {
namespace {

template <class T>
T read_all(const config::Document& document, std::string_view schema, CheckedFile& out) {
  Diagnostics diagnostics;
  T value;
  config::read(document.root(), value, diagnostics, schema, &out.origins);
  diagnostics.throw_if_errors();
  if constexpr (requires { finalize(value, document.name(), diagnostics); }) {
    finalize(value, document.name(), diagnostics);
    diagnostics.throw_if_errors();
  }
  out.kind = schema;
  out.name = value.id;
  out.resolved = config::echo_json(value, schema);
  return value;
}

template <class T, const std::string_view& schema>
CheckedFile check_spec(config::Document& document, const std::string&, const Context&) {
  CheckedFile out;
  read_all<T>(document, schema, out);
  return out;
}

CheckedFile check_scenario(config::Document& document, const std::string& path,
                           const Context& context) {
  std::vector<scenario::Override> overrides;
  for (const Override& o : context.globals().overrides) overrides.push_back({o.path, o.value});
  const std::string folder = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  const scenario::Resolved resolved =
      scenario::resolve(std::move(document), folder, spec::Catalog(context.catalog_folders()),
                        overrides, context.globals().seed);
  for (const std::string& warning : resolved.warnings) context.warn("scenario-note", warning);
  // Opened, not only named: a request list is read to its end, another trace up to its first
  // record.
  workload::make_workload(resolved.scenario.workload,
                          static_cast<std::uint64_t>(resolved.scenario.seed), resolved.folder);
  CheckedFile out;
  out.kind = scenario::scenario_schema;
  out.name = resolved.scenario.name;
  out.resolved = resolved.echo_json();
  out.origins = resolved.origins;
  return out;
}

CheckedFile check_result(config::Document& document, const std::string&, const Context&) {
  const metrics::RunResult result = report::read_result(document);
  CheckedFile out;
  out.kind = report::run_schema;
  out.name = result.name;
  out.resolved = report::to_json_detailed(result);
  return out;
}

CheckedFile check_workload(config::Document& document, const std::string&, const Context&) {
  CheckedFile out;
  const workload::WorkloadFile file = workload::read_workload_file(document, &out.origins);
  out.kind = workload::workload_schema;
  out.name = file.name;
  out.resolved = config::echo_json(file, workload::workload_schema);
  return out;
}

CheckedFile check_cost(config::Document& document, const std::string&, const Context&) {
  const cost::CostFile file = cost::read_cost(document);
  CheckedFile out;
  out.kind = cost::cost_schema;
  out.name = file.id;
  out.resolved = config::echo_json(file, cost::cost_schema);
  return out;
}

constexpr FileKind kinds[] = {
    {cost::cost_schema, check_cost},
    {cost::host_schema, check_spec<cost::HostFile, cost::host_schema>},
    {scenario::scenario_schema, check_scenario},
    {report::run_schema, check_result},
    {spec::gpu_schema, check_spec<spec::GpuSpec, spec::gpu_schema>},
    {spec::link_schema, check_spec<spec::LinkSpec, spec::link_schema>},
    {spec::model_schema, check_spec<spec::ModelSpec, spec::model_schema>},
    {workload::workload_schema, check_workload},
};

std::string kind_of(std::string_view schema) {
  return std::string(schema.substr(0, schema.find('/')));
}

[[noreturn]] void refuse(const config::Document& document) {
  std::vector<std::string> known;
  for (const FileKind& kind : kinds) known.emplace_back(kind.schema);
  const std::string list = fmt::format("expected one of {}", fmt::join(known, ", "));
  const config::Value root = document.root();
  if (!root.is_object())
    throw InputError(root.diagnostic("wrong-type",
                                     fmt::format("expected an object, found {}", root.describe())));
  const config::Value schema = root.find("schema");
  if (!schema.exists())
    throw InputError(root.diagnostic(
        "schema-missing", "the file does not say what it is: its first field must be \"schema\"",
        list));
  if (!schema.is_string())
    throw InputError(schema.diagnostic(
        "schema-wrong", fmt::format("schema: expected a string, found {}", schema.describe()),
        list));
  for (const FileKind& kind : kinds)
    if (kind_of(kind.schema) == kind_of(schema.string()))
      throw InputError(schema.diagnostic(
          "schema-version",
          fmt::format("schema {} is not a version this kvsim reads", schema.describe()),
          fmt::format("it reads \"{}\"", kind.schema)));
  const auto near = nearest(schema.string(), known);
  throw InputError(schema.diagnostic(
      "schema-unknown", fmt::format("there is no kind of file with schema {}", schema.describe()),
      near ? fmt::format("did you mean \"{}\"?", *near) : list));
}

// JSON documents are named *.json; everything else that is no folder is a request list or a trace.
bool is_trace(const std::string& path) {
  return path != "-" && std::filesystem::path(path).extension() != ".json" &&
         !std::filesystem::is_directory(path);
}

CheckedFile check_trace(const std::string& path) {
  workload::TraceOptions options;
  options.file = path;
  const workload::Trace trace = workload::load_trace(options);
  workload::RequestSpec request;
  std::int64_t requests = 0;
  while (trace.source->list(request)) {
    if (++requests % 4096 == 0) poll_interrupt();
  }
  CheckedFile out;
  out.kind = fmt::format("{} trace of {} requests", trace.format, format_integer(requests));
  return out;
}

}  // namespace

std::span<const FileKind> file_kinds() { return kinds; }

CheckedFile check_file(const std::string& path, const Context& context) {
  if (is_trace(path)) return check_trace(path);
  config::Document document = config::Document::load(path);
  const config::Value root = document.root();
  if (root.is_object() && root.find("schema").exists() && root.find("schema").is_string())
    for (const FileKind& kind : kinds)
      if (kind.schema == root.find("schema").string()) return kind.check(document, path, context);
  if (root.is_object() && !root.find("schema").exists() && spec::is_hf_config(document)) {
    const spec::ModelSpec model =
        path == "-" ? spec::import_hf_config(document, nullptr, "stdin") : spec::load_model(path);
    CheckedFile out;
    out.kind = fmt::format("Hugging Face config of a {} model", model.family);
    out.resolved = config::echo_json(model, spec::model_schema);
    return out;
  }
  refuse(document);
}

}  // namespace kvsim::cli
