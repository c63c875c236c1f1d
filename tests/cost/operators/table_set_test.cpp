#include "cost/operators/table_set.h"

#include <doctest/doctest.h>

#include <random>

using namespace kvsim;
using namespace kvsim::cost;

namespace {

double between(double low, double high, std::mt19937_64& random) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

ResidualTable table(std::vector<ResidualTable::Axis> axes, std::mt19937_64& random) {
  ResidualTable t;
  std::size_t size = 1;
  for (const ResidualTable::Axis& a : axes) size *= a.knots.size();
  t.axes = std::move(axes);
  for (std::size_t i = 0; i < size; ++i) t.values.push_back(between(-0.5, 0.5, random));
  return t;
}

}  // namespace

TEST_CASE("Tables evaluated together give the sum of each one alone to the last bit") {
  std::mt19937_64 random(9);
  const ResidualTable::Axis a{0, {1, 2, 4, 8}}, b{1, {0, 5}}, c{2, {-3, 0, 1}}, d{3, {2, 3, 4}},
      other{1, {0, 4, 5}};
  const std::vector<std::vector<ResidualTable>> sets{
      {},
      {table({a}, random)},
      {table({a, b}, random), table({a, c}, random), table({a, d}, random), table({b, c}, random),
       table({b, d}, random), table({c, d}, random)},
      {table({other}, random), table({b, a}, random), table({c}, random),
       table({c, other}, random)}};
  const auto x = [&] { return between(-6, 12, random); };
  for (const std::vector<ResidualTable>& tables : sets) {
    const TableSet set(tables);
    CHECK(set.empty() == tables.empty());
    for (int i = 0; i < 2000; ++i) {
      const Features f{x(), x(), x(), x()};
      double sum = 0;
      for (const ResidualTable& t : tables) sum += t.at(f);
      CHECK(set.at(f) == sum);
    }
  }
}

TEST_CASE("More axes than are looked up together are looked up one by one") {
  std::mt19937_64 random(10);
  std::vector<ResidualTable> tables;
  for (int k = 0; k < 8; ++k)
    tables.push_back(table({{k % 4, {0, 1.0 + k, 9}}, {(k + 1) % 4, {0.5 * k, 10}}}, random));
  const TableSet set(tables);
  const auto x = [&] { return between(-2, 12, random); };
  for (int i = 0; i < 500; ++i) {
    const Features f{x(), x(), x(), x()};
    double sum = 0;
    for (const ResidualTable& t : tables) sum += t.at(f);
    CHECK(set.at(f) == sum);
  }
}
