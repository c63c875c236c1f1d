#include <doctest/doctest.h>

#include <set>

#include "calibrate/fit/fit.h"

using namespace kvsim;
using namespace kvsim::calibrate;

TEST_CASE("Blocks of latent attention are fitted per format of their projections") {
  Measurement m;
  m.gpu = "h100_sxm", m.framework = "trtllm", m.dtype = "bf16", m.regime = "decode";
  m.figures = {{"mla_module", 1e-5}};
  std::set<OperatorKey> keys;
  for (const char* format : {"bfloat16", "fp8_block", "nvfp4"}) {
    Mla shape;
    shape.batch = 1, shape.q_len = 1, shape.kv_len = 2, shape.n_heads = 16;
    shape.gemm_dtype = format;
    m.shape = shape;
    keys.insert(key_of(m));
    CHECK(key_of(m).regime == "decode:" + std::string(format));
  }
  CHECK(keys.size() == 3);
  m.shape = Mla{};  // the core alone has none
  CHECK(key_of(m).regime == "decode");
}

TEST_CASE("Few rows leave parameters that they cannot tell near plausible values") {
  const cost::Form& form = *cost::find_form("mla_bmm", "heads_16_128");
  cost::Device d;
  d.sms = 132, d.l2_mb = 50, d.bandwidth = 3352, d.bf16 = 989;
  std::vector<Sample> samples;
  for (const double tokens : {1.0, 2.0}) {
    cost::MlaBmm s;
    s.tokens = tokens, s.n_heads = 16;
    samples.push_back({s, 7});
  }
  FitOptions options;
  options.form = form.name;
  const cost::OperatorFit fit = fit_operator("mla_bmm", samples, d, options);
  // Both rows are all floor: the rest has nothing to say.
  CHECK(cost::OperatorModel(fit, d).microseconds(samples[0].shape, cost::Buffers::replayed) ==
        doctest::Approx(7).epsilon(0.05));
  for (std::size_t i = 1; i < fit.parameters.size(); ++i) {
    CAPTURE(fit.parameter_names[i]);
    CHECK(fit.parameters[i] > form.parameters[i].start / 4);
    CHECK(fit.parameters[i] < form.parameters[i].start * 4);
  }
}
