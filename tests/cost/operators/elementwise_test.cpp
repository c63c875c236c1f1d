#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cost/operators/form.h"
#include "support/allocations.h"

using namespace kvsim::cost;

namespace {

Device h100() {
  Device d;
  d.sms = 132, d.l2_mb = 50, d.bandwidth = 3352;
  return d;
}

// vLLM's static fp8 quantisation on an H100.
const std::vector<double> quantise{1.73, 2989, 6507, 0.79, 15, 0.28, 27, 3.4, 3.1};

double us(const Elementwise& s, Buffers b = Buffers::cold) {
  const Form* f = find_form("memops", "rows");
  REQUIRE(f);
  return f->microseconds(s, h100(), quantise, b);
}

}  // namespace

TEST_CASE("a row kernel is the longer of its rows and of its bytes") {
  // Few long rows: each is one CTA, however idle the memory is.
  CHECK(us({8, 3 * 65536.0}) == doctest::Approx(1.73 + 0.28 + 27 * 0.196608).epsilon(0.02));
  // Many: bytes at the sustained rate.
  CHECK(us({65536, 3 * 8192.0}) == doctest::Approx(1.73 + 65536 * 24576.0 / 2989e3).epsilon(0.02));
  // Both, once more by hand.
  const double rows = 4096, row_mb = 0.012288, mb = rows * row_mb;
  const double ctas = rows / (132 * 3.4) * (0.28 + 27 * row_mb);
  const double cold = 1 / (1 + std::pow(0.79 * 50 / mb, 15));
  const double memory = 1e3 * mb * (cold / 2989 + (1 - cold) / 6507);
  CHECK(us({rows, 12288}, Buffers::replayed) ==
        doctest::Approx(1.73 + std::pow(std::pow(ctas, 3.1) + std::pow(memory, 3.1), 1 / 3.1)));
}

TEST_CASE("row kernels are measured within a tenth on an H100") {
  // Rows, columns, measured microseconds of static quantisation (vLLM 0.24).
  const auto quantised = [](double m, double k) { return us({m, 3 * k}, Buffers::replayed); };
  CHECK(quantised(1, 3072) == doctest::Approx(2.081).epsilon(0.1));
  CHECK(quantised(1, 7168) == doctest::Approx(2.430).epsilon(0.1));
  CHECK(quantised(512, 16384) == doctest::Approx(5.972).epsilon(0.1));
  CHECK(quantised(16384, 6144) == doctest::Approx(100.6).epsilon(0.1));
}

TEST_CASE("row kernels are never faster cold than replayed nor than their bytes") {
  for (double rows = 1; rows <= 1e6; rows *= 3)
    for (const double bytes : {768.0, 12288.0, 196608.0}) {
      const Elementwise s{rows, bytes};
      CHECK(us(s) >= us(s, Buffers::replayed) * (1 - 1e-12));
      CHECK(us(s) >= s.bytes() / (1e3 * h100().bandwidth));
      CHECK(std::isfinite(us(s)));
      CHECK(us({rows + 1, bytes}) >= us(s) * (1 - 1e-12));
    }
}

TEST_CASE("row forms are named once a kernel and allocate nothing and leave products to others") {
  std::set<std::string> seen;
  for (const Form& f : elementwise_forms()) {
    CHECK(seen.insert(std::string(f.kernel) + "/" + std::string(f.name)).second);
    CHECK(f.feature_names.size() == 2);
    if (f.applies) {
      CHECK(f.applies(Elementwise{1, 2}));
      CHECK_FALSE(f.applies(Gemm{}));
    }
    const Shape s = Elementwise{64, 4096};
    const std::size_t before = kvsim::testing::allocations();
    const double t = f.microseconds(s, h100(), quantise, Buffers::cold) + f.features(s)[0];
    const std::size_t after = kvsim::testing::allocations();
    CHECK(after == before);
    CHECK(t > 6);
  }
}
