// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace cudavision::bench {
namespace {

std::size_t width_of(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::string json_of(const Values& row) {
  std::string json;
  for (const Value& value : row)
    if (value.key)
      json += (json.empty() ? "" : ", ") + quoted(value.key) + ": " + value.json;
  return json;
}

}  // namespace

CommandLine parse(int& argc, char** argv, const std::string& usage,
                  const std::vector<std::string>& groups, std::vector<Option> options,
                  const char* kept) {
  CommandLine line;
  std::string filter;
  options.insert(options.end(), {{"--group", &line.group},
                                 {"--filter", &filter},
                                 {"--list", &line.list},
                                 {"--json", &line.json}});
  int kept_count = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::cout << usage;
      std::exit(0);
    }
    if (kept && argument.starts_with(kept)) {
      argv[kept_count++] = argv[i];
      continue;
    }
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& one) { return one.name == argument; });
    bool* const* flag = option != options.end() ? std::get_if<bool*>(&option->target) : nullptr;
    if (option == options.end() || (!flag && i + 1 == argc))
      throw std::invalid_argument("\"" + argument + "\" is unknown or lacks a value\n" + usage);
    if (flag)
      **flag = true;
    else
      *std::get<std::string*>(option->target) = argv[++i];
  }
  argc = kept_count;
  try {
    if (!filter.empty())
      line.filter = std::regex(filter);
  } catch (const std::regex_error&) {
    throw std::invalid_argument("--filter must be a regular expression, not \"" + filter + "\"");
  }
  if (!line.group.empty() && std::find(groups.begin(), groups.end(), line.group) == groups.end())
    throw std::invalid_argument("there is no group \"" + line.group + "\"; use " + joined(groups));
  return line;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

int run_benchmark(const char* name, bool (*run)(int& argc, char** argv), int argc, char** argv) {
  try {
    return run(argc, argv) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << "\n";
    return 1;
  }
}

std::string fixed(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

Value text(const char* key, const std::string& value, const char* title) {
  return {key, quoted(value), title, value};
}

Value number(const char* key, double value, const char* title, int decimals) {
  if (value > 0)
    return {key, fixed(value, 3), title, fixed(value, decimals)};
  return {key, "null", title, "-"};
}

void print_table(std::ostream& stream, std::size_t left_columns, const std::vector<Values>& rows) {
  std::vector<std::vector<std::string>> columns;
  for (const Values& row : rows) {
    std::size_t i = 0;
    for (const Value& value : row)
      if (value.title) {
        if (&row == rows.data())
          columns.push_back({value.title});
        columns[i++].push_back(value.cell);
      }
  }
  for (std::vector<std::string>& column : columns) {
    std::size_t width = 0;
    for (const std::string& cell : column)
      width = std::max(width, width_of(cell));
    const bool left = &column < columns.data() + left_columns;
    for (std::string& cell : column)
      cell.insert(left ? cell.size() : 0, width - width_of(cell), ' ');
  }
  for (std::size_t line = 0; !rows.empty() && line <= rows.size(); ++line)
    for (const std::vector<std::string>& column : columns)
      stream << column[line] << (&column == &columns.back() ? "\n" : "  ");
}

void write_json(const std::string& path, const Values& head,
                const std::vector<std::pair<const char*, std::vector<Values>>>& lists) {
  if (path.empty())
    return;
  const auto kind = std::filesystem::symlink_status(path).type();
  const bool replaceable =
      kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  const std::string written = replaceable ? path + ".new" : path;
  std::ofstream file(written);
  file << "{\n  " << json_of(head);
  for (const auto& [name, rows] : lists) {
    file << ",\n  " << quoted(name) << ": [";
    for (const Values& row : rows)
      file << (&row == rows.data() ? "\n" : ",\n") << "    {" << json_of(row) << "}";
    file << "\n  ]";
  }
  file << "\n}\n";
  file.close();
  if (!file || (replaceable && std::rename(written.c_str(), path.c_str()) != 0))
    throw std::runtime_error("cannot write " + path +
                             "; name a file in a writable folder, on a disk with free space");
}

}  // namespace cudavision::bench
