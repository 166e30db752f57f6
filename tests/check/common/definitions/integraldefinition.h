// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"

/// The expected output of cudaintegral, by the definitions of tests/kernels.
namespace check {

enum class Output { sum, squared_sum, tilted_sum, mean, stddev };
inline constexpr Output all_outputs[] = {Output::sum, Output::squared_sum, Output::tilted_sum,
                                         Output::mean, Output::stddev};
inline constexpr Output all_tables[] = {Output::sum, Output::squared_sum, Output::tilted_sum};
inline bool is_table(Output output) {
  return output <= Output::tilted_sum;
}
const char* nick_of(Output output);

enum class ElementType { automatic, uint32, uint64, float32, float64 };
inline constexpr ElementType all_element_types[] = {ElementType::automatic, ElementType::uint32,
                                                    ElementType::uint64, ElementType::float32,
                                                    ElementType::float64};
const char* nick_of(ElementType type);

struct Integral {
  Output output = Output::sum;
  bool same_size = false;
  ElementType type = ElementType::automatic;
  int radius = 7;

  Properties properties() const;
  std::string description() const { return text_of(properties()); }
};
Integral with_radius(Output output, int radius);

struct Tensor {
  int columns = 0, rows = 0;
  std::string type;                 ///< NNStreamer's name of the element type
  std::vector<std::uint8_t> bytes;  ///< in row-major order

  std::string caps(const std::string& framerate = "25/1") const;
};

Tensor tensor_of(const Picture& picture, const Integral& how);

/// Returns the output as a picture. Mean and standard deviation need natural_format().
Picture gray_picture_of(const Picture& picture, const Integral& how, const FormatSpec& format);
/// Returns GRAY16_LE for mean and stddev of more than 8 bits, otherwise GRAY8.
const FormatSpec& natural_format(const Picture& picture, Output output);

}  // namespace check
