#include "cost/operators/operator_fit.h"

namespace kvsim::cost {

void fields(config::FieldVisitor& v, FitErrors& e) {
  v.field({"n", "rows"}, e.n, config::at_least(0));
  v.field({"mape", "mean absolute error, as a fraction"}, e.mape, config::at_least(0));
  v.field({"median_ape", "median absolute error"}, e.median_ape, config::at_least(0));
  v.field({"p90_ape", "90th percentile of the absolute error"}, e.p90_ape, config::at_least(0));
  v.field({"bias", "mean signed error; negative: predicted too fast"}, e.bias);
}

void fields(config::FieldVisitor& v, OperatorFit& f) {
  v.field({"kernel", "group of the measurements: gemm, decode_attn, ...", "", true}, f.kernel);
  v.field({"backend", "the kernel that the framework picked"}, f.backend);
  v.field({"dtype", "of the operands, as measurement files spell it", "", true}, f.dtype);
  v.field({"kv_dtype", "of the KV cache"}, f.kv_dtype);
  v.field({"regime", "phase or operation within the kernel"}, f.regime);
  v.field({"form", "the closed form (kvsim explain cost)", "", true}, f.form);
  v.field({"parameter_names", "of the form, in its order", "", true}, f.parameter_names);
  v.field({"parameters", "us, GB/s, TFLOP/s, MB or plain numbers", "", true}, f.parameters);
  v.field({"covariance", "of the parameters' logarithms, lower triangle by rows"}, f.covariance);
  v.list({"tables", "smooth residual tables, added up in the logarithm"}, f.tables);
  v.field({"low", "smallest calibrated value of each feature"}, f.low);
  v.field({"high", "largest calibrated value of each feature"}, f.high);
  v.object({"errors", "over the rows it was fitted to"}, f.errors);
  v.object({"holdout", "over a share of the rows, by a fit to the others"}, f.holdout);
  v.field({"log_sigma", "robust spread of log(measured / predicted), on rows that were held out"},
          f.log_sigma, config::between(0, 3));
  v.field({"log_quantiles", "of log(measured / predicted) on held-out rows at 5, 25, 50, 75, 95 %"},
          f.log_quantiles);
}

void fields(config::FieldVisitor& v, CostFile& f) {
  v.field({"id", "name of the file in the catalog", "", true}, f.id);
  v.field({"gpu", "catalog id of the GPU", "", true}, f.gpu);
  v.field({"framework", "engine or library whose kernels were measured", "", true}, f.framework);
  v.field({"version", "of the framework", "", true}, f.version);
  v.field({"sources", "where the measurements come from"}, f.sources);
  v.list({"operators", "fitted operators", "", true}, f.operators);
}

}  // namespace kvsim::cost
