// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/settings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace cudavision::test {
namespace {

[[noreturn]] void refuse(const char* name, const char* value, const std::string& expected) {
  std::fprintf(stderr, "%s is \"%s\"; it must be %s\n", name, value, expected.c_str());
  std::exit(2);
}

template <class Number>
bool read_number(const char* name, std::uint64_t minimum, Number& number) {
  const char* text = std::getenv(name);
  if (!text || !*text)
    return false;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*end || errno || *text == '-' || value < minimum ||
      value > std::numeric_limits<Number>::max())
    refuse(name, text,
           "a whole number from " + std::to_string(minimum) + " to " +
               std::to_string(std::numeric_limits<Number>::max()));
  number = static_cast<Number>(value);
  return true;
}

Settings read_settings() {
  Settings settings;
  read_number("CUDAVISION_TEST_CASES", 1, settings.cases);
  read_number("CUDAVISION_TEST_CASE", 0, settings.only_case);
  read_number("CUDAVISION_TEST_SEED", 0, settings.seed);
  settings.small = read_number("CUDAVISION_TEST_MAX_PIXELS", 1, settings.max_pixels);
  const char* backend = std::getenv("CUDAVISION_TEST_BACKEND");
  const std::string word = backend ? backend : "";
  if (word == "cuda")
    settings.backend = Settings::Backend::cuda;
  else if (word == "cpu")
    settings.backend = Settings::Backend::cpu;
  else if (!word.empty() && word != "auto")
    refuse("CUDAVISION_TEST_BACKEND", backend, "auto, cpu or cuda");
  return settings;
}

}  // namespace

const Settings& settings() {
  static const Settings settings = read_settings();
  return settings;
}

}  // namespace cudavision::test
