// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <iosfwd>
#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Shared by all benchmarks: the command line, tables and result files.
namespace cudavision::bench {

struct CommandLine {
  std::string group, json;
  std::regex filter{""};  ///< matches everything, unlike a default-constructed regex
  bool list = false;

  bool wants(const std::string& row_group, const std::string& name) const {
    return (group.empty() || group == row_group) && std::regex_search(name, filter);
  }
};

struct Option {
  const char* name;
  std::variant<bool*, std::string*> target;
};

/// Parses `options` and the options that all benchmarks have, and checks the group. --help
/// prints the usage and exits. Keeps arguments that begin with `kept`. Throws invalid_argument.
CommandLine parse(int& argc, char** argv, const std::string& usage,
                  const std::vector<std::string>& groups, std::vector<Option> options,
                  const char* kept = nullptr);

std::string joined(const std::vector<std::string>& names);

/// Runs a benchmark that returns true on success, and prints exceptions. Returns the exit status.
int run_benchmark(const char* name, bool (*run)(int& argc, char** argv), int argc, char** argv);

/// A value of a row: key and text for JSON, title and text for the table. A value without a key is
/// not in the JSON file; a value without a title is not in the table.
struct Value {
  const char* key;
  std::string json;
  const char* title = nullptr;
  std::string cell = {};
};
using Values = std::vector<Value>;

std::string fixed(double value, int decimals);
Value text(const char* key, const std::string& value, const char* title = nullptr);
/// A value of 0 means not measured. The table shows `decimals` decimals, JSON three.
Value number(const char* key, double value, const char* title = nullptr, int decimals = 1);

/// Prints rows that have the same titles. The first `left_columns` columns are left-aligned.
void print_table(std::ostream& stream, std::size_t left_columns, const std::vector<Values>& rows);

/// Writes a JSON object with the values of `head` and with lists of rows. Does nothing if `path` is
/// empty. Replaces a regular file atomically; writes to anything else, such as a pipe, directly.
/// Throws std::runtime_error on failure.
void write_json(const std::string& path, const Values& head,
                const std::vector<std::pair<const char*, std::vector<Values>>>& lists);

}  // namespace cudavision::bench
