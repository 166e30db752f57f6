// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/subject.h"
#include "tests/kernels/integral/integral_case.h"
#include "tests/kernels/localstatistics/localstatistics_case.h"
#include "tests/kernels/speckles/speckles_case.h"

namespace cudavision::bench {
namespace {

using enum integral::TableKind;
using enum integral::TableElement;

constexpr Entry<integral::Parameters> integrals[] = {
    {"GRAY8", vga, {sum, uint32}, all, 3.5},    {"GRAY8", hd, {sum, uint32}, all, 5.5},
    {"GRAY8", uhd, {sum, uint32}, all, 14},     {"GRAY8", uhd8, {sum, uint32}, cuda, 55},
    {"GRAY8", hd, {sum, uint64}, cpu},          {"GRAY8", uhd, {sum, uint64}, cuda},
    {"GRAY8", uhd8, {sum, uint64}, cuda, 90},   {"GRAY8", hd, {sum, float32}, cpu},
    {"GRAY8", uhd, {sum, float32}, cuda},       {"GRAY8", hd, {sum, float64}, opencv},
    {"GRAY8", hd, {squared_sum, uint64}, cpu},  {"GRAY8", uhd, {squared_sum, uint64}, cuda},
    {"GRAY8", hd, {squared_sum, float64}, cpu}, {"GRAY8", uhd, {squared_sum, float64}, cuda},
    {"GRAY8", hd, {tilted_sum, uint32}, both},  {"GRAY8", uhd, {tilted_sum, uint32}, cuda, 30},
    {"GRAY16", hd, {sum, uint64}, cpu},         {"GRAY16", uhd, {sum, uint64}, cuda},
    {"GRAY16", hd, {sum, float64}, opencv},     {"GRAY16", uhd, {squared_sum, uint64}, cuda},
    {"YUY2", hd, {sum, uint32}, cpu},           {"RGBx", hd, {sum, uint32}, cpu},
    {"RGBx", uhd, {sum, uint32}, cuda},
};

std::string integral_name(const integral::Parameters& parameters) {
  constexpr const char* kinds[] = {"sum ", "squared sum ", "tilted sum "};
  constexpr const char* elements[] = {"uint32", "uint64", "float32", "float64"};
  return std::string(kinds[static_cast<int>(parameters.kind)]) +
         elements[static_cast<int>(parameters.element)];
}

using enum localstatistics::Parameters::Output;

constexpr Entry<localstatistics::Parameters> statistics[] = {
    {"GRAY8", hd, {mean, 1}, opencv},
    {"GRAY8", uhd, {mean, 1}, cuda, 7},
    {"GRAY8", hd, {mean, 7}, all},
    {"GRAY8", uhd, {mean, 7}, all, 7},
    {"GRAY8", hd, {mean, 50}, opencv},
    {"GRAY8", uhd, {mean, 50}, cuda, 11},
    {"GRAY8", hd, {mean, 500}, cpu | opencv},
    {"GRAY8", uhd, {mean, 500}, cuda, 11},
    {"GRAY8", hd, {stddev, 7}, cpu},
    {"GRAY8", uhd, {stddev, 7}, cuda, 14},
    {"GRAY8", uhd, {stddev, 50}, cuda, 24},
    {"GRAY8", hd, {bradley, 50}, both},
    {"GRAY8", uhd, {bradley, 50}, cuda, 12},
    {"GRAY8", hd, {sauvola, 50}, cpu},
    {"GRAY8", uhd, {sauvola, 50}, cuda, 28},
    {"GRAY16", hd, {mean, 7}, cpu | opencv},
    {"GRAY16", uhd, {mean, 7}, cuda},
    {"GRAY16", hd, {mean, 500}, opencv},
    {"GRAY16", hd, {stddev, 7}, cpu},
    {"RGBx", hd, {mean, 7}, cpu},
    {"RGBx", uhd, {mean, 7}, cuda},
};

std::string statistics_name(const localstatistics::Parameters& parameters) {
  constexpr const char* outputs[] = {"mean", "stddev", "bradley", "sauvola"};
  return std::string(outputs[static_cast<int>(parameters.output)]) + " radius " +
         std::to_string(parameters.radius);
}

constexpr Entry<speckles::Parameters> speckle_sizes[] = {
    {"GRAY8", hd, {20}, both},
    {"GRAY8", uhd, {20}, cuda, 60, cuda},
    {"GRAY8", uhd, {1000}, cuda, 60},
    {"GRAY16", uhd, {20}, cuda},
};

}  // namespace

void add_integral(Subjects& subjects) {
  add_table(subjects, integrals, integral_name,
            [](const auto&... arguments) { return test::plain_integral_case(arguments...); });
  add_table(subjects, statistics, statistics_name, [](const auto&... arguments) {
    return test::plain_localstatistics_case(arguments...);
  });
  add_table(
      subjects, speckle_sizes,
      [](const speckles::Parameters& parameters) {
        return "speckles of " + std::to_string(parameters.size);
      },
      test::plain_speckles_case);
}

}  // namespace cudavision::bench
