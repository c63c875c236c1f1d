#include "kernels/bench/json_writer.h"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

using kvsim::kernels::bench::JsonWriter;

TEST_CASE("written JSON reads back as what was written") {
  JsonWriter w;
  w.begin_object().member("text", "a \"b\" \\ \n\x01").member("yes", true);
  w.member("third", 1.0 / 3.0).member("big", 1e22).member("whole", 2147483648.0);
  w.member("nan", std::numeric_limits<double>::quiet_NaN());
  w.member("none", std::optional<double>()).member("some", std::optional<int>(3));
  w.key("list").begin_array().value(1).begin_object().member("x", -1).end_object().end_array();
  w.key("empty").begin_array().end_array().key("o").begin_object().end_object().end_object();
  const std::string text = w.take();
  const auto read = nlohmann::json::parse(text);
  CHECK(read["text"] == "a \"b\" \\ \n\x01");
  CHECK(read["yes"] == true);
  CHECK(read["third"].get<double>() == 1.0 / 3.0);
  CHECK(read["big"].get<double>() == 1e22);
  CHECK(read["whole"].is_number_integer());
  CHECK(read["nan"].is_null());
  CHECK(read["none"].is_null());
  CHECK(read["some"] == 3);
  CHECK(read["list"][1]["x"] == -1);
  CHECK(read["empty"].empty());
  CHECK(read["o"].is_object());
}

TEST_CASE("each element of an outer array is one line") {
  JsonWriter w;
  w.begin_object().key("results").begin_array();
  for (int i = 0; i < 2; ++i) {
    w.begin_object().member("id", i).key("clocks").begin_array().value(1).value(2).end_array();
    w.end_object();
  }
  w.end_array().end_object();
  CHECK(
      w.take() ==
      "{\n \"results\": [\n  {\"id\":0,\"clocks\":[1,2]},\n  {\"id\":1,\"clocks\":[1,2]}\n ]\n}\n");
}
