#include "spec/model_text.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "config/document.h"

namespace kvsim::spec {
namespace {

using config::Field;
using config::Range;

// Sees every present leaf with its path and its JSON text.
class LeafVisitor : public config::FieldVisitor {
 public:
  using FieldVisitor::field;
  void field(const Field& f, bool& x) override { leaf(f, x ? "true" : "false"); }
  void field(const Field& f, std::int64_t& x, Range) override { leaf(f, fmt::format("{}", x)); }
  void field(const Field& f, double& x, Range) override { leaf(f, fmt::format("{}", x)); }
  void field(const Field& f, std::string& x) override { leaf(f, config::json_string(x)); }
  void field(const Field& f, Bytes& x, Range) override { leaf(f, fmt::format("{}", x.value())); }
  void field(const Field& f, Duration& x, Range) override {
    leaf(f, fmt::format("{}", to_seconds(x)));
  }
  void field(const Field& f, Bandwidth& x, Range) override {
    leaf(f, fmt::format("{}", x.value()));
  }
  void field(const Field& f, config::RawValue& x) override { leaf(f, x.json); }
  void field(const Field& f, std::vector<std::int64_t>& x, Range) override {
    leaf(f, fmt::format("[{}]", fmt::join(x, ", ")));
  }
  void field(const Field& f, std::vector<double>& x, Range) override {
    leaf(f, fmt::format("[{}]", fmt::join(x, ", ")));
  }
  void field(const Field& f, std::vector<std::string>& x) override {
    std::vector<std::string> quoted;
    for (const std::string& s : x) quoted.push_back(config::json_string(s));
    words(f, quoted);
  }
  void word(const Field& f, int& index, std::span<const std::string_view> words) override {
    leaf(f, config::json_string(words[static_cast<std::size_t>(index)]));
  }

 protected:
  virtual void leaf(const Field& f, std::string text) = 0;
  virtual void words(const Field& f, const std::vector<std::string>& quoted) {
    leaf(f, fmt::format("[{}]", fmt::join(quoted, ", ")));
  }
  bool begin_optional(const Field&, bool has_value) override { return has_value; }
  void end_optional() override {}
};

class Collector final : public LeafVisitor {
 public:
  std::vector<ModelField> fields;

 protected:
  void leaf(const Field& f, std::string text) override {
    fields.push_back({path() + std::string(f.name), std::move(text)});
  }
  bool begin_object(const Field& f) override { return steps_.emplace_back(f.name), true; }
  void end_object() override { steps_.pop_back(); }
  std::size_t begin_list(const Field& f, std::size_t size) override {
    return steps_.emplace_back(f.name), size;
  }
  bool begin_item(std::size_t i) override { return steps_.push_back(std::to_string(i)), true; }
  void end_item() override { steps_.pop_back(); }
  void end_list() override { steps_.pop_back(); }

 private:
  std::string path() const {
    return steps_.empty() ? "" : fmt::format("{}.", fmt::join(steps_, "."));
  }
  std::vector<std::string> steps_;
};

// Defaults by path, list items under index 0.
std::map<std::string, std::string> defaults() {
  ModelSpec model;
  LayerGroup& group = model.layer_groups.emplace_back();
  group.indexer.emplace(), group.compression.emplace(), group.recurrent.emplace(),
      model.moe.emplace();
  std::map<std::string, std::string> out;
  for (ModelField& f : model_fields(model)) out[f.path] = std::move(f.value);
  return out;
}

class Writer final : public LeafVisitor {
 public:
  Writer() : defaults_(defaults()) { scopes_.emplace_back(); }
  std::string text() const { return "{\n" + scopes_[0].body + "\n}\n"; }

 protected:
  void leaf(const Field& f, std::string text) override {
    const auto usual = defaults_.find(path_ + std::string(f.name));
    if (f.required || usual == defaults_.end() || usual->second != text) put(f.name, text);
  }
  void words(const Field& f, const std::vector<std::string>& quoted) override {
    if (quoted.empty()) return;
    if (f.name == "sources")
      return put(f.name, fmt::format("[\n    {}\n  ]", fmt::join(quoted, ",\n    ")));
    if (quoted.size() <= 12) return put(f.name, fmt::format("[{}]", fmt::join(quoted, ", ")));
    std::string lines;
    for (std::size_t i = 0; i < quoted.size(); ++i)
      lines += fmt::format("{}{}", i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ", quoted[i]);
    put(f.name, "[\n    " + lines + "\n  ]");
  }
  bool begin_object(const Field& f) override {
    open(f.name);
    return true;
  }
  void end_object() override {
    const std::string name = close();
    if (!closed_.empty()) put(name, "{" + closed_ + "}");
  }
  std::size_t begin_list(const Field& f, std::size_t size) override {
    open(f.name);
    path_ += "0.";
    return size;
  }
  bool begin_item(std::size_t) override {
    scopes_.push_back({"", "", path_});
    return true;
  }
  void end_item() override {
    const std::string item = std::move(scopes_.back().body);
    scopes_.pop_back();
    std::string& list = scopes_.back().body;
    list += fmt::format("{}    {{{}}}", list.empty() ? "" : ",\n", item);
  }
  void end_list() override {
    const std::string name = close();
    put(name, "[\n" + closed_ + "\n  ]");
  }

 private:
  struct Scope {
    std::string body, name, outer_path;
  };
  void put(std::string_view name, const std::string& text) {
    std::string& body = scopes_.back().body;
    const bool top = scopes_.size() == 1;
    body += fmt::format("{}{}{}: {}",
                        body.empty() ? ""
                        : top        ? ",\n"
                                     : ", ",
                        top ? "  " : "", config::json_string(name), text);
  }
  void open(std::string_view name) {
    scopes_.push_back({"", std::string(name), path_});
    path_ += std::string(name) + ".";
  }
  std::string close() {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    path_ = std::move(scope.outer_path), closed_ = std::move(scope.body);
    return std::move(scope.name);
  }

  std::map<std::string, std::string> defaults_;
  std::vector<Scope> scopes_;
  std::string path_, closed_;
};

}  // namespace

std::string model_file_text(const ModelSpec& model) {
  Writer writer;
  std::string schema(model_schema);
  config::FieldVisitor& visitor = writer;
  visitor.field({"schema", "", {}, true}, schema);
  ModelSpec copy = model;
  // What finalize() derived is left out again.
  for (LayerGroup& g : copy.layer_groups)
    if (g.recurrent && g.recurrent->state_elements ==
                           g.recurrent->value_heads * g.recurrent->key_dim * g.recurrent->value_dim)
      g.recurrent->state_elements = 0;
  fields(writer, copy);
  return writer.text();
}

std::vector<ModelField> model_fields(const ModelSpec& model) {
  Collector collector;
  ModelSpec copy = model;
  fields(collector, copy);
  return std::move(collector.fields);
}

}  // namespace kvsim::spec
