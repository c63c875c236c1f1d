#include "fuzz/targets.h"

#include <string>

#include "config/csv.h"
#include "config/document.h"
#include "config/reader.h"
#include "cost/library/cost_document.h"
#include "cost/operators/operator_model.h"
#include "diag/check.h"
#include "diag/diagnostic.h"
#include "spec/gpu_spec.h"
#include "spec/hf_config.h"
#include "spec/model_spec.h"
#include "units/parse.h"
#include "workload/trace/format.h"

namespace kvsim::fuzz {
namespace {

// First line "path=value", the rest is the document.
void override_field(std::string_view text) {
  const std::size_t newline = text.find('\n');
  const std::size_t equals = text.find('=');
  if (newline == text.npos || equals > newline) return;
  auto document = config::Document::parse(std::string(text.substr(newline + 1)), "input");
  document.set(text.substr(0, equals), text.substr(equals + 1, newline - equals - 1), "--set");
  config::Document::parse(document.root().json(), "written");
}

// A fitted cost file that is accepted can be evaluated, and is written as it was read.
void cost_file(std::string_view text) {
  const auto file = cost::read_cost(config::Document::parse(std::string(text), "input"));
  const cost::Device device{132, 50, 3350, 989, 1979, 1979, 1979, 450, 50, true};
  for (const cost::OperatorFit& fit : file.operators)
    if (fit.kernel == "memops") {
      const double us = cost::OperatorModel(fit, device)
                            .microseconds(cost::Elementwise{64, 3 * 4096}, cost::Buffers::cold);
      KVSIM_CHECK(us > 0, "a call of {} us", us);
    }
  const std::string written = cost::cost_json(file);
  KVSIM_CHECK(
      cost::cost_json(cost::read_cost(config::Document::parse(written, "written"))) == written,
      "a cost file that changes when it is written again");
}

void csv(std::string_view text) {
  auto reader = config::CsvReader::from_text(std::string(text), "input");
  while (reader.next()) {
    KVSIM_CHECK(reader.cells().size() == reader.header().size(), "a record of another width");
    for (std::size_t i = 0; i < reader.cells().size(); ++i) {
      try {
        reader.optional_number(i);
        reader.optional_integer(i);
      } catch (const InputError&) {  // a cell that is no number leaves the others readable
      }
    }
  }
}

void quantity(std::string_view text) {
  if (const auto bytes = parse_bytes(text)) KVSIM_CHECK(bytes->value() >= 0, "{}", text);
  if (const auto span = parse_duration(text)) KVSIM_CHECK(span->value() >= 0, "{}", text);
  if (const auto rate = parse_bandwidth(text)) KVSIM_CHECK(rate->value() >= 0, "{}", text);
  parse_number(text);
  parse_integer(text);
}

void drain(workload::RequestSource& source) {
  workload::RequestSpec request;
  for (int count = 0; count < 10000 && source.list(request); ++count) {
    KVSIM_CHECK(!request.prompt.empty(), "request {} has no prompt", request.id);
    std::int64_t tokens = 0;
    for (const workload::Span& span : request.prompt) {
      KVSIM_CHECK(span.length > 0 && span.offset >= 0, "request {} has an empty span", request.id);
      tokens += span.length;
    }
    KVSIM_CHECK(tokens == request.prompt_tokens, "the spans of {} have {} tokens, it says {}",
                request.id, tokens, request.prompt_tokens);
    KVSIM_CHECK(request.output_tokens >= 0 && request.max_tokens >= 0, "negative tokens");
    KVSIM_CHECK(request.arrival >= Time{}, "arrival before the start");
  }
}

void trace(std::string_view text) {
  drain(*workload::open_trace_text(std::string(text), "auto", "input"));
}

// The first byte chooses the format, so that nothing hides behind its recognition.
void trace_of_format(std::string_view text) {
  if (text.empty()) return;
  const auto formats = workload::trace_formats();
  const auto& format = formats[static_cast<unsigned char>(text[0]) % formats.size()];
  drain(*workload::open_trace_text(std::string(text.substr(1)), format.name, "input"));
}

void hf_config(std::string_view text) {
  const auto document = config::Document::parse(std::string(text), "config.json");
  if (!spec::is_hf_config(document)) return;
  const spec::ModelSpec model = spec::import_hf_config(document, nullptr, "imported");
  KVSIM_CHECK(static_cast<std::int64_t>(model.layer_group.size()) == model.num_layers,
              "layers without a group");
}

void model(std::string_view text) {
  const auto document =
      config::Document::parse(std::string(text), "model.json", config::Comments::allowed);
  spec::ModelSpec model;
  Diagnostics diagnostics;
  config::read(document.root(), model, diagnostics, spec::model_schema);
  diagnostics.throw_if_errors();
  spec::finalize(model, "model.json", diagnostics);
  diagnostics.throw_if_errors();
}

void gpu(std::string_view text) {
  const auto document =
      config::Document::parse(std::string(text), "gpu.json", config::Comments::allowed);
  spec::GpuSpec gpu;
  Diagnostics diagnostics;
  config::read(document.root(), gpu, diagnostics, spec::gpu_schema);
  diagnostics.throw_if_errors();
}

constexpr Target table[] = {
    {"json", json},
    {"override", override_field},
    {"cost", cost_file},
    {"csv", csv},
    {"quantity", quantity},
    {"trace", trace},
    {"trace_of_format", trace_of_format},
    {"hf_config", hf_config},
    {"model", model},
    {"gpu", gpu},
    {"measurements", measurements},
    {"result", result},
    {"requirement", requirement},
    {"scenario", scenario},
    {"command", command},
    {"engine_log", engine_log},
    {"conform", conform},
};

}  // namespace

std::span<const Target> targets() { return table; }

void run(const Target& target, std::string_view text) {
  try {
    target.read(text);
  } catch (const InputError& error) {
    KVSIM_CHECK(!error.diagnostics().empty(), "an InputError without a diagnostic");
    for (const Diagnostic& d : error.diagnostics()) {
      KVSIM_CHECK(!d.code.empty() && !d.message.empty(), "a diagnostic without code or message");
      to_text(d);
    }
  }
}

}  // namespace kvsim::fuzz
