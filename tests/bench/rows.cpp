// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/rows.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

namespace cudavision::bench {
namespace {

std::string fixed(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string number_or_null(double value) {
  return value > 0 ? fixed(value, 3) : "null";
}

std::string size(const Row& row) {
  return std::to_string(row.width) + "x" + std::to_string(row.height);
}

std::string right(const std::string& text, std::size_t width) {
  return (text.size() < width ? std::string(width - text.size(), ' ') : "") + text;
}

std::string left(const std::string& text, std::size_t width) {
  return text + (text.size() < width ? std::string(width - text.size(), ' ') : "");
}

}  // namespace

void print_table(std::ostream& stream, const std::vector<Row>& rows) {
  std::size_t widest = 20;
  for (const Row& row : rows)
    widest = std::max(widest, row.operation.size());
  stream << left("operation", widest + 2) << left("format", 8) << left("size", 11)
         << left("content", 12) << right("µs", 9) << right("copy µs", 9) << right("x copy", 8)
         << right("host µs", 9) << right("required", 10) << "\n";
  for (const Row& row : rows) {
    stream << left(row.operation, widest + 2) << left(row.format, 8) << left(size(row), 11)
           << left(row.content, 12) << right(fixed(row.microseconds, 2), 8)
           << right(fixed(row.copy_microseconds, 2), 8)
           << right(fixed(row.microseconds / row.copy_microseconds, 2), 8)
           << right(row.host_microseconds > 0 ? fixed(row.host_microseconds, 1) : "-", 8);
    if (row.required > 0)
      stream << right(fixed(row.required, 2), 10)
             << (row.microseconds <= row.required
                     ? "  reached"
                     : "  missed by " + fixed(row.microseconds - row.required, 2));
    else
      stream << right("-", 10);
    stream << "\n";
  }
}

void write_json(std::ostream& stream, const std::string& card, const std::vector<Row>& rows,
                const std::vector<CpuRow>& cpu_rows) {
  stream << "{\n  \"card\": \"" << card << "\",\n  \"cuda\": [";
  const char* separator = "\n";
  for (const Row& row : rows) {
    stream << separator << "    {\"operation\": \"" << row.operation << "\", \"format\": \""
           << row.format << "\", \"width\": " << row.width << ", \"height\": " << row.height
           << ", \"content\": \"" << row.content
           << "\", \"microseconds\": " << fixed(row.microseconds, 3)
           << ", \"copy_microseconds\": " << fixed(row.copy_microseconds, 3)
           << ", \"host_microseconds\": " << number_or_null(row.host_microseconds)
           << ", \"required\": " << number_or_null(row.required) << "}";
    separator = ",\n";
  }
  stream << "\n  ],\n  \"cpu\": [";
  separator = "\n";
  for (const CpuRow& row : cpu_rows) {
    stream << separator << "    {\"name\": \"" << row.name
           << "\", \"microseconds\": " << fixed(row.microseconds, 3) << "}";
    separator = ",\n";
  }
  stream << "\n  ]\n}\n";
}

}  // namespace cudavision::bench
