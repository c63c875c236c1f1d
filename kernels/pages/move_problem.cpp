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

// A row is one page of the pool for scatter, one of the list for gather.
class MoveProblem final : public Problem {
 public:
  MoveProblem(PageMove move, std::int64_t pages, int page_bytes)
      : move_(move), pages_(pages), pool_pages_(2 * pages + 1), page_words_(page_bytes / 16) {
    info_ = {.kernel = move == PageMove::gather ? "page_gather" : "page_scatter",
             .q_dtype = "",
             .kv_dtype = "",
             .acc_dtype = "",
             .shape = {{"pages", pages}, {"page_bytes", std::int64_t{page_bytes}}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    return {2 * bytes_of(pages_) + 4.0 * static_cast<double>(pages_), 0,
            "2*pages*page_bytes + 4*pages"};
  }
  std::vector<VariantInfo> variants() const override {
    return variant_infos(move_ == PageMove::gather ? cpu::gather_variants()
                                                   : cpu::scatter_variants());
  }
  double set_bytes() const override { return bytes_of(pool_pages_); }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    order_ = shuffled(pool_pages_, seed);
    order_.resize(static_cast<std::size_t>(pages_));
    for (int s = 0; s < sets; ++s) {
      sets_.push_back({Array<Words4>(device, count(pool_pages_)),
                       Array<Words4>::pinned(device, count(pages_)),
                       Array<std::int32_t>(device, order_)});
      fill_bits(device, move_ == PageMove::gather ? sets_.back().pool : sets_.back().host, seed);
    }
  }
  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    (move_ == PageMove::gather ? s.host : s.pool).fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const MovePagesArgs args{s.pool.view(), s.host.view(), s.ids.view(), pages_, page_words_};
    if (move_ == PageMove::gather)
      KVSIM_VARIANTS(device_->backend(), gather_variants)[variant].launch(args, stream);
    else
      KVSIM_VARIANTS(device_->backend(), scatter_variants)[variant].launch(args, stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(0);
    const bool gather = move_ == PageMove::gather;
    std::vector<std::int64_t> listed(static_cast<std::size_t>(pool_pages_), -1);
    for (std::size_t i = 0; i < order_.size(); ++i)
      listed[static_cast<std::size_t>(order_[i])] = static_cast<std::int64_t>(i);
    for (const std::int64_t row : sample_rows(gather ? pages_ : pool_pages_, max_rows, seed_)) {
      const auto at = static_cast<std::size_t>(row);
      // Where the page's content comes from; -1: it must still be poison.
      const std::int64_t source = gather ? order_[at] : listed[at];
      const auto words = static_cast<std::size_t>(page_words_);
      const auto got = (gather ? sets_[0].host : sets_[0].pool).download(at * words, words);
      for (std::size_t w = 0; w < words; ++w)
        for (std::size_t j = 0; j < 4; ++j)
          comparison.add(got[w].word[j], source < 0 ? 0xffffffffU : word(source, 4 * w + j));
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  struct Set {
    Array<Words4> pool, host;
    Array<std::int32_t> ids;
  };
  std::size_t count(std::int64_t pages) const {
    return static_cast<std::size_t>(pages * page_words_);
  }
  double bytes_of(std::int64_t pages) const { return 16.0 * static_cast<double>(count(pages)); }
  std::uint32_t word(std::int64_t page, std::size_t index) const {
    const auto first =
        static_cast<std::uint64_t>(page) * 4 * static_cast<std::uint64_t>(page_words_);
    return static_cast<std::uint32_t>(noise_bits(seed_, first + index));
  }

  PageMove move_;
  std::int64_t pages_, pool_pages_;
  int page_words_;
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<std::int32_t> order_;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_page_move(PageMove move, std::int64_t pages, int page_bytes) {
  return std::make_unique<MoveProblem>(move, pages, page_bytes);
}

}  // namespace kvsim::kernels
