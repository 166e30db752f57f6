// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/rows.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

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

template <class AnyRow>
std::string size(const AnyRow& row) {
  return std::to_string(row.width) + "x" + std::to_string(row.height);
}

std::string fixed_or_dash(double value, int decimals) {
  return value > 0 ? fixed(value, decimals) : "-";
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
           << right(fixed_or_dash(row.host_microseconds, 1), 8);
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

void print_table(std::ostream& stream, const std::vector<PipelineRow>& rows) {
  std::size_t widest = 20;
  for (const PipelineRow& row : rows)
    widest = std::max(widest, row.pipeline.size());
  stream << left("pipeline", widest + 2) << left("format", 8) << left("size", 11)
         << left("memory", 15) << left("backend", 9) << right("frames/s", 10) << right("µs", 12)
         << right("host µs", 12) << right("each", 10) << right("bus µs", 10) << right("of bus", 8)
         << right("up", 7) << right("down", 7) << right("on GPU", 8) << right("launches", 10)
         << right("allocations", 13) << right("start s", 9) << right("MB each", 9) << "\n";
  for (const PipelineRow& row : rows) {
    const double microseconds = 1e6 / row.frames_per_second;
    stream << left(row.pipeline, widest + 2) << left(row.format, 8) << left(size(row), 11)
           << left(row.memory, 15) << left(row.backend, 9)
           << right(fixed(row.frames_per_second, 1), 10) << right(fixed(microseconds, 1), 11)
           << right(fixed_or_dash(row.host_microseconds, 1), 11)
           << right(fixed_or_dash(row.host_microseconds / row.elements, 1), 10)
           << right(fixed_or_dash(row.bus_microseconds, 1), 9)
           << right(row.bus_microseconds > 0
                        ? fixed(100 * row.bus_microseconds / microseconds, 0) + " %"
                        : "-",
                    8);
    const auto count = [&](double PipelineRow::Calls::*number) {
      return row.calls ? fixed(*row.calls.*number, 2) : "-";
    };
    stream << right(count(&PipelineRow::Calls::uploads), 7)
           << right(count(&PipelineRow::Calls::downloads), 7)
           << right(count(&PipelineRow::Calls::device_copies), 8)
           << right(count(&PipelineRow::Calls::launches), 10)
           << right(count(&PipelineRow::Calls::allocations), 13)
           << right(fixed_or_dash(row.start_seconds, 2), 9)
           << right(fixed_or_dash(row.device_megabytes, 1), 9) << "\n";
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

void write_json(std::ostream& stream, const std::string& card,
                const std::vector<PipelineRow>& rows) {
  stream << "{\n  \"card\": \"" << card << "\",\n  \"pipelines\": [";
  const char* separator = "\n";
  for (const PipelineRow& row : rows) {
    stream << separator << "    {\"pipeline\": \"" << row.pipeline << "\", \"format\": \""
           << row.format << "\", \"width\": " << row.width << ", \"height\": " << row.height
           << ", \"memory\": \"" << row.memory << "\", \"backend\": \"" << row.backend
           << "\", \"frames_per_second\": " << fixed(row.frames_per_second, 3)
           << ", \"host_microseconds\": " << number_or_null(row.host_microseconds)
           << ", \"elements\": " << row.elements
           << ", \"bus_microseconds\": " << number_or_null(row.bus_microseconds);
    if (row.start_seconds > 0)
      stream << ", \"streams\": " << row.streams
             << ", \"start_seconds\": " << fixed(row.start_seconds, 3)
             << ", \"device_megabytes\": " << number_or_null(row.device_megabytes);
    if (row.calls)
      stream << ", \"uploads\": " << fixed(row.calls->uploads, 3)
             << ", \"downloads\": " << fixed(row.calls->downloads, 3)
             << ", \"device_copies\": " << fixed(row.calls->device_copies, 3)
             << ", \"launches\": " << fixed(row.calls->launches, 3)
             << ", \"allocations\": " << fixed(row.calls->allocations, 3);
    stream << "}";
    separator = ",\n";
  }
  stream << "\n  ]\n}\n";
}

void replace_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const auto kind = std::filesystem::symlink_status(path).type();
  const bool replaceable =
      kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  const std::string written = replaceable ? path + ".new" : path;
  std::ofstream file(written);
  write(file);
  file.close();
  if (!file || (replaceable && std::rename(written.c_str(), path.c_str()) != 0))
    throw std::runtime_error("cannot write " + path +
                             "; name a file in a folder that exists, on a disk with space");
}

}  // namespace cudavision::bench
