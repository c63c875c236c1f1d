#include <algorithm>
#include <bit>

#include "kernels/fill/fill.h"
#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/host/shuffled.h"
#include "kernels/pages/family.h"
#include "kernels/pages/pages.h"
#include "kernels/pages/variant_infos.h"

namespace kvsim::kernels {
namespace {

constexpr Bf16 poison_value{0xffff};

// A row is one row of the pools: (page, kv head, slot), keys and values.
class AppendProblem final : public Problem {
 public:
  explicit AppendProblem(const AppendShape& shape) : shape_(shape) {
    const bool decode = shape.step == AppendStep::decode;
    pages_ =
        1 + (decode ? shape.tokens : (shape.tokens + shape.page_tokens - 1) / shape.page_tokens);
    info_ = {.kernel = "kv_append",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .acc_dtype = "",
             .shape = {{"step", std::string(decode ? "decode" : "prefill")},
                       {"tokens", std::int64_t{shape.tokens}},
                       {"Hkv", std::int64_t{shape.kv_heads}},
                       {"D", std::int64_t{shape.head_dim}},
                       {"page", std::int64_t{shape.page_tokens}},
                       {"padding", std::string(shape.padding == Padding::some ? "some" : "none")}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    int written = 0;
    for (int t = 0; t < shape_.tokens; ++t) written += is_padding(t) ? 0 : 1;
    return {8.0 * written * static_cast<double>(row_elements()) + 8.0 * shape_.tokens, 0,
            "8*tokens*Hkv*D + 8*tokens"};
  }
  std::vector<VariantInfo> variants() const override {
    return variant_infos(cpu::append_variants());
  }
  double set_bytes() const override {
    return 4.0 * static_cast<double>(pool_elements() + shape_.tokens * row_elements());
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    const auto order = shuffled(pages_, seed);
    slots_.clear();
    for (int t = 0; t < shape_.tokens; ++t) slots_.push_back(slot_of(t, order));
    for (int s = 0; s < sets; ++s) {
      const auto fresh = static_cast<std::size_t>(shape_.tokens * row_elements());
      const auto pool = static_cast<std::size_t>(pool_elements());
      sets_.push_back({{device, fresh},
                       {device, fresh},
                       {device, pool},
                       {device, pool},
                       {device, std::span<const std::int64_t>(slots_)}});
      fill_bf16(device, sets_.back().new_keys, seed, 1.0F);
      fill_bf16(device, sets_.back().new_values, seed + 1, 1.0F);
    }
  }
  void poison(int set) override {
    sets_[static_cast<std::size_t>(set)].keys.fill_bytes(0xff);
    sets_[static_cast<std::size_t>(set)].values.fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    KVSIM_VARIANTS(device_->backend(), append_variants)
    [variant].launch({s.new_keys.view(), s.new_values.view(), s.keys.view(), s.values.view(),
                      s.slots.view(), shape_.tokens, shape_.kv_heads, shape_.head_dim,
                      std::countr_zero(static_cast<unsigned>(shape_.page_tokens))},
                     stream);
  }
  // Walks the pools and asks which token each row holds: the other way round than the kernel.
  Check check(std::size_t, int max_rows) override {
    std::vector<int> token_of(
        static_cast<std::size_t>(pages_) * static_cast<std::size_t>(shape_.page_tokens), -1);
    for (int t = 0; t < shape_.tokens; ++t)
      if (const auto slot = slots_[static_cast<std::size_t>(t)]; slot >= 0)
        token_of[static_cast<std::size_t>(slot)] = t;
    Comparison comparison(0);
    const std::int64_t rows = pool_elements() / shape_.head_dim;
    for (const std::int64_t row : sample_rows(rows, max_rows, seed_)) {
      const std::int64_t slot = row % shape_.page_tokens;
      const std::int64_t head = row / shape_.page_tokens % shape_.kv_heads;
      const std::int64_t page = row / shape_.page_tokens / shape_.kv_heads;
      compare_row(comparison, row, head,
                  token_of[static_cast<std::size_t>(page * shape_.page_tokens + slot)]);
    }
    return comparison.result();
  }

 private:
  struct Set {
    Array<Bf16> new_keys, new_values, keys, values;
    Array<std::int64_t> slots;
  };

  bool is_padding(int token) const { return shape_.padding == Padding::some && token % 7 == 3; }
  std::int64_t row_elements() const {
    return static_cast<std::int64_t>(shape_.kv_heads) * shape_.head_dim;
  }
  std::int64_t pool_elements() const { return pages_ * shape_.page_tokens * row_elements(); }
  std::int64_t slot_of(int token, const std::vector<std::int32_t>& order) const {
    if (is_padding(token)) return -1;
    const bool decode = shape_.step == AppendStep::decode;
    const int page = decode ? token : token / shape_.page_tokens;
    const auto in_page =
        decode ? static_cast<int>(noise_bits(seed_, static_cast<std::uint64_t>(token)) %
                                  static_cast<unsigned>(shape_.page_tokens))
               : token % shape_.page_tokens;
    return static_cast<std::int64_t>(order[static_cast<std::size_t>(page)]) * shape_.page_tokens +
           in_page;
  }
  // Bits, so that poison compares like a value.
  void compare_row(Comparison& comparison, std::int64_t row, std::int64_t head, int token) const {
    const auto width = static_cast<std::size_t>(shape_.head_dim);
    const auto at = static_cast<std::size_t>(row) * width;
    const std::uint64_t first =
        static_cast<std::uint64_t>(token * row_elements() + head * shape_.head_dim);
    const auto keys = sets_[0].keys.download(at, width);
    const auto values = sets_[0].values.download(at, width);
    for (std::size_t i = 0; i < width; ++i) {
      const auto want = [&](std::uint64_t seed) {
        return token < 0 ? poison_value : to_bf16(noise_normal(seed, first + i));
      };
      comparison.add(keys[i].bits, want(seed_).bits);
      comparison.add(values[i].bits, want(seed_ + 1).bits);
    }
    comparison.end_row();
  }

  AppendShape shape_;
  std::int64_t pages_ = 0;
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<std::int64_t> slots_;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_append(const AppendShape& shape) {
  return std::make_unique<AppendProblem>(shape);
}

}  // namespace kvsim::kernels
