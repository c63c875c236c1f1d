#include "config/echo.h"

#include <nlohmann/json.hpp>

namespace kvsim::config {
namespace {

using Json = nlohmann::ordered_json;

class EchoVisitor final : public FieldVisitor {
 public:
  Json root = Json::object();

  using FieldVisitor::field;
  void field(const Field& f, bool& x) override { put(f, x); }
  void field(const Field& f, std::int64_t& x, Range) override { put(f, x); }
  void field(const Field& f, double& x, Range) override { put(f, x); }
  void field(const Field& f, std::string& x) override { put(f, x); }
  void field(const Field& f, Bytes& x, Range) override { put(f, x.value()); }
  void field(const Field& f, Duration& x, Range) override { put(f, to_seconds(x)); }
  void field(const Field& f, Bandwidth& x, Range) override { put(f, x.value()); }
  void field(const Field& f, RawValue& x) override {
    put(f, x.json.empty() ? Json() : Json::parse(x.json));
  }
  void field(const Field& f, std::vector<std::int64_t>& x, Range) override { put(f, x); }
  void field(const Field& f, std::vector<double>& x, Range) override { put(f, x); }
  void field(const Field& f, std::vector<std::string>& x) override { put(f, x); }
  void word(const Field& f, int& index, std::span<const std::string_view> words) override {
    put(f, std::string(words[static_cast<std::size_t>(index)]));
  }

 protected:
  bool begin_part(bool relevant, std::string_view) override { return relevant; }
  bool begin_optional(const Field& f, bool has_value) override {
    if (!has_value) put(f, Json());
    return has_value;
  }
  void end_optional() override {}
  bool begin_object(const Field& f) override {
    put(f, Json::object());
    stack_.push_back(&(*stack_.back())[std::string(f.name)]);
    return true;
  }
  void end_object() override { stack_.pop_back(); }
  std::size_t begin_list(const Field& f, std::size_t size) override {
    put(f, Json::array());
    stack_.push_back(&(*stack_.back())[std::string(f.name)]);
    return size;
  }
  bool begin_item(std::size_t) override {
    stack_.back()->push_back(Json::object());
    stack_.push_back(&stack_.back()->back());
    return true;
  }
  void end_item() override { stack_.pop_back(); }
  void end_list() override { stack_.pop_back(); }

 private:
  void put(const Field& f, Json value) { (*stack_.back())[std::string(f.name)] = std::move(value); }
  std::vector<Json*> stack_{&root};
};

}  // namespace

struct Echo::Impl {
  EchoVisitor visitor;
};
Echo::Echo() : impl_(std::make_unique<Impl>()) {}
Echo::~Echo() = default;
FieldVisitor& Echo::visitor() { return impl_->visitor; }
std::string Echo::json() const { return impl_->visitor.root.dump(2); }

}  // namespace kvsim::config
