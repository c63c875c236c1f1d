#include <doctest/doctest.h>

#include "diag/diagnostic.h"
#include "kvformat/kv_dtype.h"

using namespace kvsim;
using kvformat::find_kv_dtype;

TEST_CASE("formats cost their payload and their scales") {
  struct Row {
    const char* name;
    double bits;
  };
  for (const Row& row :
       {Row{"bfloat16", 16}, Row{"float32", 32}, Row{"fp8_e4m3", 8}, Row{"int8", 8.125},
        Row{"int4", 4.25}, Row{"int3", 3.25}, Row{"int2", 2.25}, Row{"nvfp4", 4.5},
        Row{"mxfp4", 4.25}, Row{"kivi4", 5}, Row{"kivi2", 3}, Row{"q8_0", 8.5}, Row{"q5_1", 6},
        Row{"q5_0", 5.5}, Row{"q4_1", 5}, Row{"q4_0", 4.5}}) {
    CAPTURE(row.name);
    REQUIRE(find_kv_dtype(row.name) != nullptr);
    CHECK(find_kv_dtype(row.name)->bits_per_element() == row.bits);
  }
}

TEST_CASE("short names mean the long ones") {
  CHECK(find_kv_dtype("bf16") == find_kv_dtype("bfloat16"));
  CHECK(find_kv_dtype("f16") == find_kv_dtype("float16"));
  CHECK(find_kv_dtype("f32") == find_kv_dtype("float32"));
  CHECK(find_kv_dtype("fp8") == find_kv_dtype("fp8_e4m3"));
  CHECK(find_kv_dtype("auto") == nullptr);
}

TEST_CASE("auto follows the checkpoint and then the model") {
  spec::ModelSpec model;
  model.dtype = spec::DType::float16;
  CHECK(kvformat::resolve_kv_dtype("auto", model).name == "float16");
  model.quantization.kv_cache_dtype = "fp8";
  CHECK(kvformat::resolve_kv_dtype("auto", model).name == "fp8_e4m3");
  CHECK(kvformat::resolve_kv_dtype("int4", model).name == "int4");
}

TEST_CASE("an unknown format is refused with the nearest one") {
  const spec::ModelSpec model;
  try {
    kvformat::resolve_kv_dtype("fp8_e4m", model);
    FAIL("accepted");
  } catch (const InputError& e) {
    CHECK(e.diagnostics().front().code == "kv-dtype-unknown");
    CHECK(e.diagnostics().front().hint.find("fp8_e4m3") != std::string::npos);
  }
}
