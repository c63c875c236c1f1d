#pragma once
#include <functional>
#include <span>
#include <vector>

// MLA decode of one head in double, in both forms. The two agree up to rounding of doubles, which a
// test shows, so each checks the other.
namespace kvsim::kernels {

// Cache rows of 576 numbers, in token order.
using LatentRows = std::vector<std::vector<double>>;

// sum_j softmax_j(scale q . row_j) row_j[0..512) over the first `tokens` rows; zeros without any.
std::vector<double> mla_absorbed(std::span<const double> q, const LatentRows& rows, int tokens,
                                 double scale);

// A head's matrices, [128][512] each.
struct HeadMatrices {
  std::vector<double> w_uk, w_uv;
};

// q is 128 numbers without position and 64 with; K and V are projected from every row.
std::vector<double> mla_reprojected(std::span<const double> q, const HeadMatrices& head,
                                    const LatentRows& rows, int tokens, double scale);

// The query that makes mla_absorbed's scores those of mla_reprojected: W_UK^T q_nope, then q_rope.
std::vector<double> absorb_query(std::span<const double> q, const HeadMatrices& head);
// W_UV o: the head's output from the absorbed form's.
std::vector<double> project_output(std::span<const double> o, const HeadMatrices& head);

}  // namespace kvsim::kernels
