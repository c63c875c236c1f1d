#include "spec/model_text.h"

#include <doctest/doctest.h>

#include <cmath>

#include "config/document.h"
#include "config/reader.h"
#include "spec/catalog.h"
#include "spec/parameters.h"
#include "spec/weights.h"

using namespace kvsim;
using namespace kvsim::spec;

namespace {

ModelSpec read_back(const std::string& text) {
  const config::Document document = config::Document::parse(text, "written.json");
  Diagnostics diagnostics;
  ModelSpec model;
  config::read(document.root(), model, diagnostics, model_schema);
  finalize(model, "written.json", diagnostics);
  diagnostics.throw_if_errors();
  return model;
}

}  // namespace

TEST_SUITE("spec/model_text") {
  TEST_CASE("every catalog model written as a file reads back equal field by field") {
    const Catalog catalog;
    for (const std::string& id : catalog.model_ids()) {
      CAPTURE(id);
      const ModelSpec model = catalog.model(id);
      const auto before = model_fields(model),
                 after = model_fields(read_back(model_file_text(model)));
      REQUIRE(before.size() == after.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK(before[i].path == after[i].path);
        CHECK(before[i].value == after[i].value);
      }
    }
  }

  TEST_CASE("a written file leaves defaults out") {
    const std::string text = model_file_text(Catalog().model("llama-3.1-8b"));
    CHECK(text.find("owns_kv") == std::string::npos);
    CHECK(text.find("num_mtp_layers") == std::string::npos);
    CHECK(text.find("\"num_kv_heads\": 8") != std::string::npos);
  }

  TEST_CASE("weight matrices of one GPU add up to the parameters counted by part") {
    const Catalog catalog;
    for (const std::string& id : catalog.model_ids()) {
      CAPTURE(id);
      ModelSpec model = catalog.model(id);
      model.quantization = Quantization{};
      const double bytes = weight_bytes(model, {}, 0, model.num_layers).total();
      const double counted =
          static_cast<double>(count_parameters(model).total()) * bits(model.dtype) / 8;
      CHECK(std::abs(bytes / counted - 1) < 0.001);
    }
  }

  TEST_CASE("weights of the MXFP4 checkpoints take what their model cards state") {
    const Catalog catalog;
    const auto gib = [&](const char* id) {
      const ModelSpec model = catalog.model(id);
      return weight_bytes(model, {}, 0, model.num_layers).total() / static_cast<double>(kvsim::gib);
    };
    CHECK(gib("gpt-oss-120b") == doctest::Approx(60.8).epsilon(0.005));
    CHECK(gib("gpt-oss-20b") == doctest::Approx(12.8).epsilon(0.005));
  }
}
