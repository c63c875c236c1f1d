#pragma once

namespace kvsim::metrics {

// Rises by one whenever golden numbers move although no schema did; each rise has an entry under
// "Changed behaviour" in docs/CHANGELOG.md.
inline constexpr int behaviour = 1;

}  // namespace kvsim::metrics
