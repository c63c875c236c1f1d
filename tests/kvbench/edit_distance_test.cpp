#include "kernels/bench/edit_distance.h"

#include <doctest/doctest.h>

using namespace kvsim::kernels::bench;

TEST_CASE("an edit distance counts insertions deletions and replacements") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("sitting", "kitten") == 3);
}

TEST_CASE("the distance to a part of a text is to its nearest part") {
  CHECK(distance_within("", "abc") == 0);
  CHECK(distance_within("copy", "a/copy/b") == 0);
  CHECK(distance_within("coppy", "a/copy/b") == 1);
  CHECK(distance_within("abc", "") == 3);
  CHECK(distance_within("xyz", "abc") == 3);
}
