// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <iosfwd>
#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What all benchmarks share: the command line, tables and files of results.
namespace cudavision::bench {

struct CommandLine {
  std::string group, json;
  std::regex filter{""};  ///< without a text, it would match nothing
  bool list = false;

  bool wants(const std::string& row_group, const std::string& name) const {
    return (group.empty() || group == row_group) && std::regex_search(name, filter);
  }
};

struct Option {
  const char* name;
  std::variant<bool*, std::string*> target;
};

/// Parses the arguments by the program's own options and those of all, and checks the group. --help
/// prints the usage and ends the program. Arguments that begin with `kept` are left in argv. Throws
/// std::invalid_argument.
CommandLine parse(int& argc, char** argv, const std::string& usage,
                  const std::vector<std::string>& groups, std::vector<Option> options,
                  const char* kept = nullptr);

std::string joined(const std::vector<std::string>& names);

/// Runs a benchmark that returns true on success, and prints exceptions. Returns the exit status.
int run_benchmark(const char* name, bool (*run)(int& argc, char** argv), int argc, char** argv);

/// A value of a row: its key and text in JSON, and its title and text in a table. It is not part of
/// a file without a key, nor of a table without a title.
struct Value {
  const char* key;
  std::string json;
  const char* title = nullptr;
  std::string cell = {};
};
using Values = std::vector<Value>;

std::string fixed(double value, int decimals);
Value text(const char* key, const std::string& value, const char* title = nullptr);
/// 0 means that it was not measured. A table gets so many decimals, and JSON three.
Value number(const char* key, double value, const char* title = nullptr, int decimals = 1);

/// Prints rows with equal titles, with the first `left_columns` columns aligned to the left.
void print_table(std::ostream& stream, std::size_t left_columns, const std::vector<Values>& rows);

/// Writes a JSON object with the values of `head` and with lists of rows. Does nothing if `path` is
/// empty. The file always holds its old contents or all of the new ones, whatever stops the
/// program; devices and pipes are written to directly. Throws std::runtime_error if that fails.
void write_json(const std::string& path, const Values& head,
                const std::vector<std::pair<const char*, std::vector<Values>>>& lists);

}  // namespace cudavision::bench
