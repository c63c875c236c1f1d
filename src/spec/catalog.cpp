#include "spec/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "config/document.h"
#include "diag/check.h"
#include "diag/suggest.h"
#include "spec/embedded.h"

namespace kvsim::spec {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

std::vector<std::string> ids_of(const auto& entries) {
  std::vector<std::string> out;
  for (const auto& entry : entries) out.push_back(entry.id);
  std::ranges::sort(out);
  return out;
}

// The *.json of a folder and of its subfolders for models, in alphabetical order.
std::vector<std::string> json_files(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const char* sub : {"", "llm", "gpu", "link", "cost"}) {
    const fs::path path = fs::path(folder) / sub;
    std::error_code error;
    if (*sub && !fs::is_directory(path, error)) continue;
    fs::directory_iterator iterator(path, error);
    if (error) throw IoError(folder, "cannot be read as a folder of models: " + error.message());
    std::vector<std::string> found;
    for (const auto& item : iterator)
      if (item.path().extension() == ".json") found.push_back(item.path().string());
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

// Up to three ids near to `word`, or the nearest alias; "" when nothing is near.
std::string nearest_names(std::string_view word, const auto& entries) {
  std::vector<std::string> ids = ids_of(entries), found;
  while (found.size() < 3) {
    const auto near = nearest(word, ids);
    if (!near) break;
    found.push_back(fmt::format("\"{}\"", *near));
    std::erase(ids, *near);
  }
  if (found.empty()) {
    std::vector<std::string> aliases;
    for (const auto& entry : entries)
      aliases.insert(aliases.end(), entry.aliases.begin(), entry.aliases.end());
    if (const auto near = nearest(word, aliases)) found.push_back(fmt::format("\"{}\"", *near));
  }
  return found.empty() ? "" : fmt::format("did you mean {}?", fmt::join(found, " or "));
}

std::string_view kind_word(std::string_view schema) {
  return schema == model_schema ? "model" : schema == gpu_schema ? "GPU" : "link";
}

}  // namespace

Catalog::Catalog(const std::vector<std::string>& folders) {
  for (const EmbeddedFile& file : embedded_files()) {
    Entry entry{std::string(file.id), split_lines(file.aliases), std::string(file.path),
                std::string(file.text)};
    if (file.path.starts_with("models/llm/")) models_.push_back(std::move(entry));
    if (file.path.starts_with("models/gpu/")) gpus_.push_back(std::move(entry));
    if (file.path.starts_with("models/link/")) links_.push_back(std::move(entry));
  }
  for (const std::string& folder : folders) add_folder(folder);
}

void Catalog::add(Entries& list, Entry entry) {
  std::erase_if(list, [&](const Entry& other) { return other.id == entry.id; });
  list.push_back(std::move(entry));
}

void Catalog::add_folder(const std::string& folder) {
  for (const std::string& path : json_files(folder)) {
    std::string text = config::read_file(path);
    const config::Document document =
        config::Document::parse(text, path, config::Comments::allowed);
    const auto refuse = [&](std::string message) {
      throw InputError(document.root().diagnostic(
          "catalog-file", std::move(message),
          "a models folder holds kvsim.model, kvsim.gpu, kvsim.link and kvsim.cost files"));
    };
    if (!document.root().is_object()) refuse("expected an object");
    const config::Value schema = document.root().find("schema"), id = document.root().find("id");
    if (!schema.exists() || !schema.is_string()) refuse("the file has no \"schema\"");
    if (!id.exists() || !id.is_string()) refuse("the file has no \"id\"");
    if (schema.string().starts_with("kvsim.cost/")) {
      const config::Value gpu = document.root().find("gpu");
      if (!gpu.exists() || !gpu.is_string()) refuse("the file has no \"gpu\"");
      CostEntry entry{id.string(), gpu.string(), path, std::move(text)};
      std::erase_if(costs_, [&](const CostEntry& other) { return other.id == entry.id; });
      costs_.push_back(std::move(entry));
      continue;
    }
    Entry entry{id.string(), {}, path, std::move(text)};
    const config::Value aliases = document.root().find("aliases");
    if (aliases.exists() && aliases.is_array())
      for (std::size_t i = 0; i < aliases.size(); ++i)
        if (aliases.at(i).is_string()) entry.aliases.push_back(aliases.at(i).string());
    if (schema.string() == model_schema)
      add(models_, std::move(entry));
    else if (schema.string() == gpu_schema)
      add(gpus_, std::move(entry));
    else if (schema.string() == link_schema)
      add(links_, std::move(entry));
    else
      refuse(fmt::format("schema {} is none of a catalog", schema.describe()));
  }
}

std::vector<std::string> Catalog::model_ids() const { return ids_of(models_); }
std::vector<std::string> Catalog::gpu_ids() const { return ids_of(gpus_); }
std::vector<std::string> Catalog::link_ids() const { return ids_of(links_); }

const Catalog::Entries& Catalog::entries(std::string_view schema) const {
  return schema == model_schema ? models_ : schema == gpu_schema ? gpus_ : links_;
}

const Catalog::Entry& Catalog::find(std::string_view schema, std::string_view id,
                                    const config::RawValue& where) const {
  const std::string key = lower(id);
  const Entries& list = entries(schema);
  // An id of a user's folder stands behind the embedded ones, and wins over an alias of those.
  for (const Entry& entry : list)
    if (lower(entry.id) == key) return entry;
  for (auto entry = list.rbegin(); entry != list.rend(); ++entry)
    for (const std::string& alias : entry->aliases)
      if (lower(alias) == key) return *entry;

  Diagnostic d;
  d.code = fmt::format("unknown-{}", lower(kind_word(schema)));
  d.message = fmt::format("unknown {} \"{}\"", kind_word(schema), id);
  d.hint = nearest_names(id, list);
  if (d.hint.empty())
    d.hint =
        fmt::format("`kvsim {} list` shows all; a path starts with ./ ../ or / or ends in .json",
                    lower(kind_word(schema)));
  d.pointer = where.pointer, d.file = where.origin;
  if (const auto column = d.file.rfind(':'); column != std::string::npos && column > 0) {
    if (const auto line = d.file.rfind(':', column - 1); line != std::string::npos) {
      d.line = std::atoi(d.file.c_str() + line + 1),
      d.column = std::atoi(d.file.c_str() + column + 1);
      if (d.line > 0 && d.column > 0) d.file.erase(line);
    }
  }
  throw InputError(std::move(d));
}

std::string_view Catalog::model_text(std::string_view id) const {
  return find(model_schema, id, {}).text;
}
std::string_view Catalog::gpu_text(std::string_view id) const {
  return find(gpu_schema, id, {}).text;
}

std::vector<Catalog::CostText> Catalog::cost_texts() const {
  std::vector<CostText> out;
  for (const CostEntry& e : costs_) out.push_back({e.id, e.gpu, e.name, e.text, false});
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with("models/cost/")) continue;
    if (std::ranges::find(costs_, file.id, &CostEntry::id) != costs_.end()) continue;
    out.push_back({file.id, file.gpu, file.path, file.text, true});
  }
  std::ranges::sort(out, {}, &CostText::id);
  return out;
}

std::optional<LinkSpec> Catalog::link_of(const GpuSpec& gpu) const {
  if (!gpu.link.empty()) return link(gpu.link);
  if (gpu.pcie_gen > 0) return link("pcie-" + std::to_string(gpu.pcie_gen));
  return std::nullopt;
}

}  // namespace kvsim::spec
