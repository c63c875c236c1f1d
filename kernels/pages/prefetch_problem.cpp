#include <algorithm>

#include "kernels/fill/fill.h"
#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/host/shuffled.h"
#include "kernels/pages/family.h"
#include "kernels/pages/pages.h"
#include "kernels/pages/variant_infos.h"

namespace kvsim::kernels {
namespace {

// A row is the sum of one page; the counters of the computing kernel are rows after those.
class PrefetchProblem final : public Problem {
 public:
  PrefetchProblem(int pages, int page_bytes, int rounds, unsigned blocks)
      : pages_(pages), page_words_(page_bytes / 16), rounds_(rounds), blocks_(blocks) {
    info_ = {.kernel = "prefetch_pages",
             .q_dtype = "",
             .kv_dtype = "",
             .acc_dtype = "",
             .shape = {{"pages", std::int64_t{pages}},
                       {"page_bytes", std::int64_t{page_bytes}},
                       {"rounds", std::int64_t{rounds}},
                       {"blocks", std::int64_t{blocks}}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    return {2.0 * pages_ * page_words_ * 16 + 8.0 * pages_ + 4.0 * static_cast<double>(threads()),
            0, "2*pages*page_bytes + 8*pages + 4*threads"};
  }
  std::vector<VariantInfo> variants() const override {
    return variant_infos(cpu::prefetch_variants(), 2);
  }
  double set_bytes() const override { return 32.0 * static_cast<double>(pool_words()); }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    order_ = shuffled(pages_ + 1, seed);
    order_.resize(static_cast<std::size_t>(pages_));
    for (int s = 0; s < sets; ++s) {
      sets_.push_back({{device, pool_words()},
                       {device, pool_words()},
                       {device, std::span<const std::int32_t>(order_)},
                       {device, threads()},
                       {device, order_.size()}});
      fill_bits(device, sets_.back().keys, seed);
      fill_bits(device, sets_.back().values, seed + 1);
    }
  }
  void poison(int set) override {
    sets_[static_cast<std::size_t>(set)].busy.fill_bytes(0xff);
    sets_[static_cast<std::size_t>(set)].sums.fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    KVSIM_VARIANTS(device_->backend(), prefetch_variants)
    [variant].launch({s.keys.view(), s.values.view(), s.ids.view(), s.busy.view(), s.sums.view(),
                      pages_, page_words_, rounds_, blocks_},
                     stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(0);
    const auto sums = sets_[0].sums.download();
    for (const std::int64_t i : sample_rows(pages_, max_rows, seed_)) {
      const auto words = 4 * static_cast<std::uint64_t>(page_words_);
      const auto first = static_cast<std::uint64_t>(order_[static_cast<std::size_t>(i)]) * words;
      std::uint64_t want = 0;
      for (std::uint64_t w = first; w < first + words; ++w)
        want += (noise_bits(seed_, w) & 0xffffffffU) + (noise_bits(seed_ + 1, w) & 0xffffffffU);
      comparison.add(sums[static_cast<std::size_t>(i)], static_cast<std::uint32_t>(want));
      comparison.end_row();
    }
    const auto busy = sets_[0].busy.download();
    for (const std::int64_t thread :
         sample_rows(static_cast<std::int64_t>(busy.size()), max_rows, seed_)) {
      comparison.add(busy[static_cast<std::size_t>(thread)],
                     counted(static_cast<std::uint32_t>(thread)));
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  struct Set {
    Array<Words4> keys, values;
    Array<std::int32_t> ids;
    Array<std::uint32_t> busy, sums;
  };
  std::size_t threads() const { return std::size_t{blocks_} * prefetch_threads; }
  std::size_t pool_words() const {
    return (static_cast<std::size_t>(pages_) + 1) * static_cast<std::size_t>(page_words_);
  }
  // `rounds_` steps at once: x -> a x + c composed with itself by squaring.
  std::uint32_t counted(std::uint32_t x) const {
    std::uint32_t factor = next_count(1) - next_count(0), term = next_count(0);
    for (int left = rounds_; left > 0; left /= 2) {
      if (left % 2 == 1) x = x * factor + term;
      term = term * factor + term;
      factor *= factor;
    }
    return x;
  }

  int pages_, page_words_, rounds_;
  unsigned blocks_;
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<std::int32_t> order_;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_prefetch(int pages, int page_bytes, int rounds, unsigned blocks) {
  return std::make_unique<PrefetchProblem>(pages, page_bytes, rounds, blocks);
}

}  // namespace kvsim::kernels
