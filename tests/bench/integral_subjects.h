// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "cuda/integral/integral.h"
#include "cuda/localstatistics/localstatistics.h"

namespace cudavision::bench {

inline integral::Parameters table_of(integral::TableKind kind, integral::TableElement element) {
  return {kind, element, false};
}

/// A table to measure. `required` is the time in µs that the project requires of an NVIDIA H200, or
/// 0 if there is none.
struct TableSubject {
  const char* layout;
  int width, height;
  integral::Parameters parameters;
  double required = 0;
};

/// Names a table, such as "sum uint32" or "tilted sum float32".
inline std::string table_name(const integral::Parameters& parameters) {
  constexpr const char* kinds[] = {"sum", "squared sum", "tilted sum"};
  constexpr const char* elements[] = {"uint32", "uint64", "float32", "float64"};
  return std::string(kinds[static_cast<int>(parameters.kind)]) + " " +
         elements[static_cast<int>(parameters.element)];
}

/// Names local statistics, such as "mean radius 7".
inline std::string statistics_name(const localstatistics::Parameters& parameters) {
  constexpr const char* outputs[] = {"mean", "stddev", "bradley", "sauvola"};
  return std::string(outputs[static_cast<int>(parameters.output)]) + " radius " +
         std::to_string(parameters.radius);
}

}  // namespace cudavision::bench
