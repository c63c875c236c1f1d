#include "calibrate/fit/grown.h"

namespace kvsim::calibrate {
namespace {

template <class S>
bool grow_keys(S& s, int field, double factor) {
  if (field > 1) return false;
  if constexpr (requires { s.pairs; })
    if (s.pairs > 0 && field == 1) return false;  // keys of sequences that differ are not known
  if (field == 0) {
    s.batch *= factor;
    if constexpr (requires { s.pairs; }) s.pairs *= factor;
  } else {
    s.kv_len *= factor;
  }
  return true;
}

struct Grow {
  int field;
  double factor;
  bool one(double& amount) const {
    if (field != 0) return false;
    amount *= factor;
    return true;
  }
  bool operator()(cost::Gemm& s) const { return one(s.m); }
  bool operator()(cost::DecodeAttention& s) const { return grow_keys(s, field, factor); }
  bool operator()(cost::PrefillAttention& s) const { return grow_keys(s, field, factor); }
  bool operator()(cost::Mla& s) const { return grow_keys(s, field, factor); }
  bool operator()(cost::MlaModule& s) const { return grow_keys(s.core, field, factor); }
  bool operator()(cost::MlaBmm& s) const { return one(s.tokens); }
  bool operator()(cost::ExpertMlp& s) const { return one(s.tokens); }
  bool operator()(cost::Collective& s) const { return one(s.bytes); }
  bool operator()(cost::ExpertExchange& s) const { return one(s.tokens); }
  bool operator()(cost::Elementwise& s) const { return one(s.rows); }
  bool operator()(cost::Stated&) const { return false; }
};

}  // namespace

std::optional<cost::Shape> grown(const cost::Shape& shape, int field, double factor) {
  cost::Shape out = shape;
  if (!std::visit(Grow{field, factor}, out)) return {};
  return out;
}

}  // namespace kvsim::calibrate
