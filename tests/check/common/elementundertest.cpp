// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/elementundertest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace check {
namespace {

struct Table {
  std::vector<ElementSpec> all;
  std::vector<ElementUnderTest> filters;
};

/// Rows are added before main(), so the table must not depend on the order of static objects.
Table& table() {
  static Table rows;
  return rows;
}

template <class Row>
void enter(std::vector<Row>& rows, Row row) {
  const auto place = std::upper_bound(
      rows.begin(), rows.end(), row,
      [](const Row& one, const Row& other) { return g_strcmp0(one.element, other.element) < 0; });
  rows.insert(place, std::move(row));
}

}  // namespace

RegisteredElement::RegisteredElement(ElementSpec row) {
  enter(table().all, std::move(row));
}

RegisteredElement::RegisteredElement(ElementUnderTest row) {
  enter(table().all, ElementSpec(row));
  enter(table().filters, std::move(row));
}

const std::vector<ElementSpec>& element_specs() {
  return table().all;
}

const std::vector<ElementUnderTest>& tested_elements() {
  return table().filters;
}

const ElementUnderTest* find_tested(const std::string& element) {
  for (const ElementUnderTest& row : tested_elements())
    if (row.element == element)
      return &row;
  return nullptr;
}

namespace {

const ElementUnderTest* current = nullptr;

// A check fixture has no parameters, so each number needs its own function.
template <std::size_t number>
void choose() {
  current = &tested_elements()[number];
}

template <std::size_t... numbers>
constexpr std::array<SFun, sizeof...(numbers)> make_choosers(std::index_sequence<numbers...>) {
  return {choose<numbers>...};
}

constexpr auto choosers = make_choosers(std::make_index_sequence<16>());

}  // namespace

const ElementUnderTest& tested() {
  return current != nullptr ? *current : *find_tested("cudahistequalize");
}

SFun fixture_for_element(std::size_t number) {
  return choosers.at(number);
}

std::vector<double> PropertySpec::out_of_range() const {
  // An unsigned property with the full range of its type can hold no value outside this range.
  const bool is_unsigned = minimum == 0 && maximum > G_MAXINT32;
  if (change == Change::never || minimum == maximum || is_unsigned)
    return {};
  if (maximum < G_MAXINT32)
    return {minimum - 1, maximum + 1};
  return {minimum - 1};
}

std::string text_of(double value) {
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

std::string text_of(const Properties& properties) {
  std::string text;
  for (const Property& property : properties)
    text += text_of(property) + " ";
  return text;
}

std::string tested_launch() {
  return tested().element + (" " + text_of(tested().always));
}

}  // namespace check
