#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "config/document.h"
#include "config/echo.h"
#include "config/reader.h"
#include "spec/catalog.h"
#include "spec/hf_config.h"

// References: from an id, a path, an inline object or a patch to a checked spec.
namespace kvsim::spec {
namespace {

template <class T>
struct Traits;
template <>
struct Traits<ModelSpec> {
  static constexpr std::string_view schema = model_schema;
  static constexpr std::string_view word = "model";
};
template <>
struct Traits<GpuSpec> {
  static constexpr std::string_view schema = gpu_schema;
  static constexpr std::string_view word = "GPU";
};
template <>
struct Traits<LinkSpec> {
  static constexpr std::string_view schema = link_schema;
  static constexpr std::string_view word = "link";
};

bool is_path(std::string_view text) {
  return text.starts_with("./") || text.starts_with("../") || text.starts_with("/") ||
         text.ends_with(".json");
}

std::string join(const std::string& folder, const std::string& path) {
  if (folder.empty() || path.starts_with('/')) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

template <class T>
T read_spec(const config::Document& document) {
  Diagnostics diagnostics;
  T out;
  config::read(document.root(), out, diagnostics, Traits<T>::schema);
  diagnostics.throw_if_errors();
  if constexpr (std::is_same_v<T, ModelSpec>) {
    finalize(out, document.name(), diagnostics);
    diagnostics.throw_if_errors();
  }
  return out;
}

// Numbers that Python writes and JSON does not have (Infinity, NaN) become strings of the same
// length, so that every other position stays.
std::string without_infinities(std::string text) {
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_string = false;
    } else if (text[i] == '"') {
      in_string = true;
    } else {
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (!std::string_view(text).substr(i).starts_with(word)) continue;
        text[i] = text[i + word.size() - 1] = '"';
        i += word.size() - 1;
        break;
      }
    }
  }
  return text;
}

std::string beside(const std::string& path, std::string_view suffix, std::string_view other) {
  return path.ends_with(suffix) ? path.substr(0, path.size() - suffix.size()) + std::string(other)
                                : std::string();
}

// An id for a model that has none: the file's name without "config", else its family.
std::string derived_id(const std::string& path, const std::string& family) {
  std::string name = std::filesystem::path(path).stem().string();
  for (const std::string_view tail : {"_config", "config"})
    if (name.ends_with(tail)) name.erase(name.size() - tail.size());
  if (name.empty()) name = family;
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  }
  return name;
}

std::optional<ModelSpec> load_hf(const std::string& path, const std::string& text) {
  // A kvsim file with a typing mistake must be reported as such: only what parses is looked at
  // here.
  std::optional<config::Document> document;
  try {
    document = config::Document::parse(without_infinities(text), path);
  } catch (const InputError&) {
    return std::nullopt;
  }
  if (!is_hf_config(*document)) return std::nullopt;
  const config::Value family = document->root().find("model_type");
  const std::string id =
      derived_id(path, family.exists() && family.is_string() ? family.string() : "model");
  const std::string quant_path = beside(path, "config.json", "hf_quant_config.json");
  std::error_code error;
  if (quant_path.empty() || quant_path == path ||
      !std::filesystem::is_regular_file(quant_path, error))
    return import_hf_config(*document, nullptr, id);
  const config::Document quant = config::Document::load(quant_path, config::Comments::forbidden);
  return import_hf_config(*document, &quant, id);
}

template <class T>
T load(const std::string& path) {
  std::string text = config::read_file(path);
  if constexpr (std::is_same_v<T, ModelSpec>)
    if (auto model = load_hf(path, text)) return std::move(*model);
  return read_spec<T>(config::Document::parse(std::move(text), path, config::Comments::allowed));
}

// RFC 7396 on texts: members of `patch` replace those of `base`, null removes.
std::string merged(const config::Value& base, const config::Value& patch) {
  if (!patch.is_object()) return patch.json();
  std::string out;
  const auto put = [&](const std::string& key, const std::string& value) {
    out += (out.empty() ? "" : ",") + config::json_string(key) + ":" + value;
  };
  const bool both = base.exists() && base.is_object();
  if (both)
    for (std::size_t i = 0; i < base.size(); ++i) {
      const config::Value change = patch.find(base.key(i));
      if (!change.exists())
        put(base.key(i), base.at(i).json());
      else if (!change.is_null())
        put(base.key(i), merged(base.at(i), change));
    }
  for (std::size_t i = 0; i < patch.size(); ++i)
    if (!(both && base.find(patch.key(i)).exists()) && !patch.at(i).is_null())
      put(patch.key(i), merged({}, patch.at(i)));
  return "{" + out + "}";
}

// Blames a problem inside an inline value on the place where that value stood.
InputError relocated(const InputError& error, const config::RawValue& where,
                     const std::string& prefix) {
  std::vector<Diagnostic> list = error.diagnostics();
  for (Diagnostic& d : list) {
    d.file = where.origin, d.line = d.column = 0, d.source_line.clear();
    d.pointer = where.pointer + prefix + d.pointer;
  }
  return InputError(std::move(list));
}

void check_reference_keys(const config::Value& root) {
  Diagnostics problems;
  for (std::size_t i = 0; i < root.size(); ++i)
    if (root.key(i) != "base" && root.key(i) != "set")
      problems.add(root.at(i).key_diagnostic(
          "unknown-key", fmt::format("unknown key {}", config::json_string(root.key(i))),
          "a patched reference has \"base\" and \"set\""));
  if (root.find("set").exists() && !root.find("set").is_object())
    problems.add(root.find("set").diagnostic(
        "wrong-type",
        fmt::format("set: expected an object, found {}", root.find("set").describe())));
  problems.throw_if_errors();
}

}  // namespace

template <class T>
T Catalog::resolve(const config::RawValue& reference, const std::string& folder) const {
  const config::Document document = config::Document::parse(reference.json, reference.origin);
  const config::Value root = document.root();
  if (root.is_string()) {
    if (is_path(root.string())) return load<T>(join(folder, root.string()));
    const Entry& entry = find(Traits<T>::schema, root.string(), reference);
    return read_spec<T>(config::Document::parse(entry.text, entry.name, config::Comments::allowed));
  }
  try {
    if (!root.is_object())
      throw InputError(root.diagnostic(
          "wrong-type", fmt::format("{}: expected an id, a path or an object, found {}",
                                    Traits<T>::word, root.describe())));
    const config::Value base = root.find("base");
    if (!base.exists()) {
      // An inline object may leave the schema out: its place says what it is.
      const std::string schema = fmt::format("{{\"schema\":\"{}\"}}", Traits<T>::schema);
      const config::Document with = config::Document::parse(schema, reference.origin);
      return read_spec<T>(config::Document::parse(merged(with.root(), root), reference.origin));
    }
    check_reference_keys(root);
  } catch (const InputError& error) {
    throw relocated(error, reference, "");
  }
  const config::Value base = root.find("base"), set = root.find("set");
  const T original = resolve<T>(
      config::RawValue{base.json(), reference.origin, reference.pointer + "/base"}, folder);
  if (!set.exists()) return original;
  const config::Document text =
      config::Document::parse(config::echo_json(original, Traits<T>::schema), reference.origin);
  try {
    return read_spec<T>(config::Document::parse(merged(text.root(), set), reference.origin));
  } catch (const InputError& error) {
    throw relocated(error, reference, "/set");
  }
}

ModelSpec Catalog::resolve_model(const config::RawValue& reference,
                                 const std::string& folder) const {
  return resolve<ModelSpec>(reference, folder);
}
GpuSpec Catalog::resolve_gpu(const config::RawValue& reference, const std::string& folder) const {
  return resolve<GpuSpec>(reference, folder);
}
LinkSpec Catalog::resolve_link(const config::RawValue& reference, const std::string& folder) const {
  return resolve<LinkSpec>(reference, folder);
}
ModelSpec Catalog::resolve_model(std::string_view argument) const {
  return resolve<ModelSpec>({config::json_string(argument), "", ""}, "");
}
GpuSpec Catalog::resolve_gpu(std::string_view argument) const {
  return resolve<GpuSpec>({config::json_string(argument), "", ""}, "");
}

ModelSpec Catalog::model(std::string_view id, const config::RawValue& where) const {
  const Entry& entry = find(model_schema, id, where);
  return read_spec<ModelSpec>(
      config::Document::parse(entry.text, entry.name, config::Comments::allowed));
}
GpuSpec Catalog::gpu(std::string_view id, const config::RawValue& where) const {
  const Entry& entry = find(gpu_schema, id, where);
  return read_spec<GpuSpec>(
      config::Document::parse(entry.text, entry.name, config::Comments::allowed));
}
LinkSpec Catalog::link(std::string_view id, const config::RawValue& where) const {
  const Entry& entry = find(link_schema, id, where);
  return read_spec<LinkSpec>(
      config::Document::parse(entry.text, entry.name, config::Comments::allowed));
}

ModelSpec load_model(const std::string& path) { return load<ModelSpec>(path); }

}  // namespace kvsim::spec
