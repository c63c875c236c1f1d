#include "spec/catalog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "spec/embedded.h"
#include "spec/parameters.h"

using namespace kvsim;
using namespace kvsim::spec;

namespace {

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

config::RawValue reference(const std::string& json) {
  return {json, "scenario.json:3:7", "/model"};
}

}  // namespace

TEST_SUITE("spec/catalog") {
  TEST_CASE("every embedded file is a valid spec named like its file") {
    const Catalog catalog;
    for (const EmbeddedFile& file : embedded_files()) {
      CAPTURE(file.path);
      CHECK(contains(std::string(file.path), "/" + std::string(file.id) + ".json"));
      if (file.path.starts_with("models/llm/")) CHECK(catalog.model(file.id).id == file.id);
      if (file.path.starts_with("models/gpu/")) CHECK(catalog.gpu(file.id).id == file.id);
      if (file.path.starts_with("models/link/")) CHECK(catalog.link(file.id).id == file.id);
    }
  }

  TEST_CASE("every entry says where its figures come from") {
    const Catalog catalog;
    for (const auto& id : catalog.model_ids())
      CHECK_MESSAGE(!catalog.model(id).sources.empty(), id);
    for (const auto& id : catalog.gpu_ids()) CHECK_MESSAGE(!catalog.gpu(id).sources.empty(), id);
    for (const auto& id : catalog.link_ids()) CHECK_MESSAGE(!catalog.link(id).sources.empty(), id);
  }

  TEST_CASE("every link that a GPU names is in the catalog") {
    const Catalog catalog;
    for (const auto& id : catalog.gpu_ids())
      if (const GpuSpec gpu = catalog.gpu(id); !gpu.link.empty())
        CHECK(catalog.link(gpu.link).id == gpu.link);
  }

  TEST_CASE("aliases are found without regard to case") {
    const Catalog catalog;
    CHECK(catalog.model("meta-llama/Llama-3.1-70B").id == "llama-3.1-70b");
    CHECK(catalog.model("META-LLAMA/llama-3.1-70b").id == "llama-3.1-70b");
    CHECK(catalog.gpu("h200_sxm").id == "h200-sxm");
    CHECK(catalog.gpu("a100_sxm").id == "a100-sxm-80g");
  }

  TEST_CASE("no two entries share an id or an alias") {
    std::vector<std::string> seen;
    for (const EmbeddedFile& file : embedded_files()) {
      std::string names = std::string(file.path.substr(0, file.path.rfind('/'))) + "\n" +
                          std::string(file.id) + "\n" + std::string(file.aliases);
      const std::string kind = names.substr(0, names.find('\n'));
      std::string name;
      for (const char c : names.substr(kind.size() + 1)) {
        if (c != '\n') {
          name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
          continue;
        }
        if (name.empty()) continue;
        name = kind + " " + name;
        CHECK_MESSAGE(std::ranges::find(seen, name) == seen.end(), name);
        seen.push_back(std::exchange(name, {}));
      }
    }
  }

  TEST_CASE("an unknown id is named together with the nearest known one") {
    const Catalog catalog;
    const std::string model =
        message_of([&] { catalog.resolve_model(reference("\"llama-3.1-7b\""), ""); });
    CHECK(contains(model, "llama-3.1-7b"));
    CHECK(contains(model, "llama-3.1-8b"));
    CHECK(contains(model, "scenario.json:3:7"));
    CHECK(contains(model, "/model"));
    CHECK(contains(message_of([&] { catalog.resolve_gpu("h100-sxn"); }), "h100-sxm"));
    CHECK(contains(message_of([&] { catalog.resolve_model("no-such-model"); }), "no-such-model"));
  }

  TEST_CASE("a folder or a missing file is an input output error that names the path") {
    const Catalog catalog;
    CHECK_THROWS_AS(catalog.resolve_model("./missing/config.json"), IoError);
    CHECK_THROWS_AS(catalog.resolve_model("./"), IoError);
    CHECK(contains(message_of([&] { catalog.resolve_model("./missing/config.json"); }),
                   "missing/config.json"));
  }

  TEST_CASE("a patched copy differs in what was set only") {
    const Catalog catalog;
    const ModelSpec base = catalog.model("llama-3.1-8b");
    const ModelSpec patched = catalog.resolve_model(
        reference(
            R"({"base": "llama-3.1-8b", "set": {"num_layers": 16, "quantization": {"method": "fp8", "bits": 8}}})"),
        "");
    CHECK(patched.num_layers == 16);
    CHECK(patched.layer_group.size() == 16);
    CHECK(patched.quantization.bits == 8);
    CHECK(patched.hidden_size == base.hidden_size);
    CHECK(patched.layer_groups[0].num_kv_heads == base.layer_groups[0].num_kv_heads);
    const GpuSpec gpu = catalog.resolve_gpu(
        {R"({"base": "h100-sxm", "set": {"memory_reported": null, "memory": "94GB"}})",
         "s.json:1:1", "/gpu"},
        "");
    CHECK(gpu.usable_memory() == Bytes(94'000'000'000));
  }

  TEST_CASE("a wrong patch is blamed on the place of the reference") {
    const Catalog catalog;
    const std::string text = message_of([&] {
      catalog.resolve_model(reference(R"({"base": "llama-3.1-8b", "set": {"num_layer": 16}})"), "");
    });
    CHECK(contains(text, "scenario.json:3:7"));
    CHECK(contains(text, "/model/set/num_layer"));
    CHECK(contains(text, "num_layers"));
    CHECK(contains(message_of([&] {
                     catalog.resolve_model(reference(R"({"base": "llama-3.1-8b", "sets": {}})"),
                                           "");
                   }),
                   "sets"));
  }

  TEST_CASE("an inline object is a model of its own") {
    const Catalog catalog;
    const ModelSpec model = catalog.resolve_model(
        reference(
            R"({"id": "tiny", "hidden_size": 64, "num_layers": 3, "vocab_size": 100, "intermediate_size": 128, "max_position_embeddings": 512,
                      "layer_groups": [{"name": "full", "attention": "full", "num_heads": 4, "num_kv_heads": 2, "head_dim": 16}]})"),
        "");
    CHECK(model.layers_in(0) == 3);
    // 3 * (64*64*2 + 64*32*2 + 3*64*128 + 128) + 2*100*64 + 64
    CHECK(count_parameters(model).total() == 3 * (8192 + 4096 + 24576 + 128) + 12800 + 64);
  }

  TEST_CASE("files of an extra folder join the catalog and win over embedded ones") {
    const std::string folder = std::string(KVSIM_BINARY_DIR) + "/tests/extra_models";
    std::filesystem::create_directories(folder + "/gpu");
    std::string text(Catalog().model_text("llama-3.1-8b"));
    text.replace(text.find("\"num_layers\": 32"), 16, "\"num_layers\": 31");
    config::write_file(folder + "/llama.json", text);
    std::string gpu(Catalog().gpu_text("h100-sxm"));
    gpu.replace(gpu.find("\"id\": \"h100-sxm\""), 16, "\"id\": \"my-gpu\"");
    config::write_file(folder + "/gpu/mine.json", gpu);
    const Catalog catalog({folder});
    CHECK(catalog.model("llama-3.1-8b").num_layers == 31);
    CHECK(catalog.model("meta-llama/Llama-3.1-8B").num_layers == 31);
    CHECK(catalog.gpu("my-gpu").id == "my-gpu");
    CHECK(catalog.gpu("h100-sxm").id == "h100-sxm");

    config::write_file(folder + "/other.json", R"({"schema": "kvsim.scenario/1", "id": "x"})");
    CHECK(contains(message_of([&] { Catalog broken({folder}); }), "other.json"));
    std::filesystem::remove_all(folder);
    CHECK_THROWS_AS(Catalog({folder}), IoError);
  }

  TEST_CASE("a path is relative to the folder of the file that names it") {
    const std::string folder = std::string(KVSIM_BINARY_DIR) + "/tests/relative_models";
    std::filesystem::create_directories(folder);
    config::write_file(folder + "/mine.json", Catalog().model_text("qwen3-8b"));
    CHECK(Catalog().resolve_model(reference("\"./mine.json\""), folder).id == "qwen3-8b");
    CHECK(Catalog().resolve_model(reference("\"mine.json\""), folder).id == "qwen3-8b");
    CHECK_THROWS_AS(Catalog().resolve_model(reference("\"./mine.json\""), folder + "/elsewhere"),
                    IoError);
    const ModelSpec patched = Catalog().resolve_model(
        reference(R"({"base": "./mine.json", "set": {"num_layers": 2}})"), folder);
    CHECK(patched.num_layers == 2);
    std::filesystem::remove_all(folder);
  }
}
