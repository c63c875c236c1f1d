#include "diag/suggest.h"

#include <doctest/doctest.h>

using namespace kvsim;

namespace {
const std::vector<std::string> flags{"max_num_seqs", "max_num_batched_tokens", "max_model_len",
                                     "block_size"};
}

TEST_CASE("the nearest word survives a typo and a swap and another case") {
  CHECK(nearest("max_num_seq", flags) == "max_num_seqs");
  CHECK(nearest("max_num_sesq", flags) == "max_num_seqs");
  CHECK(nearest("MAX-NUM-SEQS", flags) == "max_num_seqs");
  CHECK(nearest("blocksize", flags) == "block_size");
  CHECK(nearest("max_model_length", flags) == "max_model_len");
}

TEST_CASE("a word that is far from all candidates gets no suggestion") {
  CHECK(!nearest("temperature", flags));
  CHECK(!nearest("", flags));
  CHECK(!nearest("x", std::vector<std::string>{}));
}

TEST_CASE("of two equally near words the earlier wins") {
  CHECK(nearest("cat", std::vector<std::string>{"bat", "hat"}) == "bat");
}

TEST_CASE("a short list is printed when nothing is near") {
  CHECK(suggestion("max_num_seq", flags) == "did you mean \"max_num_seqs\"?");
  CHECK(suggestion("zzz", std::vector<std::string>{"a1", "b2"}) == "expected one of a1, b2");
  CHECK(suggestion("zzz", std::vector<std::string>{}).empty());
  CHECK(suggestion("zzz", std::vector<std::string>(25, "abcdefgh")).empty());
}
