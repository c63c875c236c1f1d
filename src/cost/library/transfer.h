#pragma once
#include "cost/operators/device.h"
#include "cost/operators/operator_fit.h"

// A fit carried over to a GPU that nobody measured, by ratios of the datasheets.
namespace kvsim::cost {

// SMs and the L2 cache enter the forms as they are; parameters follow their
// Form::Parameter::scaling: bandwidths, matrix rates and link rates by the ratio of the peaks, tile
// times by that of the matrix rate per SM (to the power -0.7 in prefill attention, -1 elsewhere),
// sizes in MB by that of the L2 caches, floors and plain numbers not at all. Attention over an fp8
// cache takes half of an increase of bandwidth. A parameter on a bound of its form is not
// identified and stays. Residual tables belong to tiles of one architecture: they are kept where
// the rate per SM is the same. The fit's errors say nothing of the other GPU and are cleared; its
// spread grows by the errors that such transfers were seen to make. Requires a known form.
OperatorFit transfer(const OperatorFit& fit, const Device& from, const Device& to);

// What a transfer adds to log(measured / predicted), one standard deviation: 0.08 between GPUs
// of the same rate per SM, 0.2 where it is within 10 %, 0.35 otherwise, as leaving out measured
// GPUs shows (validation.md).
double transfer_log_sigma(const OperatorFit& fit, const Device& from, const Device& to);

// How far apart two GPUs are for transfers: the logarithms of their rates per SM (which decides
// the kernels), bandwidths and SM counts. A donor with a small distance is a near relative.
double transfer_distance(const Device& from, const Device& to);

}  // namespace kvsim::cost
