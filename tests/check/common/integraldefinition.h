// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/check/common/filterharness.h"
#include "tests/check/common/picture.h"

/// Integral images and what cudaintegral makes by them, as they are defined: the oracle
/// of these tests.
namespace check {

enum class Output { sum, squared_sum, tilted_sum, mean, stddev, threshold, denoise };
inline constexpr Output all_outputs[] = {Output::sum,    Output::squared_sum, Output::tilted_sum,
                                         Output::mean,   Output::stddev,      Output::threshold,
                                         Output::denoise};
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

/// The properties of cudaintegral.
struct Integral {
  Output output = Output::sum;
  bool same_size = false;
  ElementType type = ElementType::automatic;
  int radius = 7;
  bool sauvola = false;
  double ratio = 0.15;
  double k = 0.2;
  double range = 0;
  int search = 21;
  int patch = 7;
  double strength = 10;

  Properties properties() const;
  std::string description() const;
};

/// Sets all properties of a cudaintegral.
void apply(FilterHarness& filter, const Integral& how);

/// What leaves the element as other/tensors.
struct Tensor {
  int columns = 0, rows = 0;
  std::string type;                 ///< of the elements, by NNStreamer's name
  std::vector<std::uint8_t> bytes;  ///< row after row

  /// The caps, with that framerate.
  std::string caps(const std::string& framerate = "25/1") const;
};

Tensor tensor_of(const Picture& picture, const Integral& how);

/// Fails the test where a buffer, which came out under these caps, is anything but the tensor.
void expect_tensor(GstBuffer* buffer, const GstCaps* caps, const Tensor& expected,
                   const std::string& what, const std::string& framerate = "25/1");
/// The same of the frame that comes out of the element for a picture.
void expect_tensor(FilterHarness& filter, const Picture& picture, const Integral& how,
                   const Layout& layout = packed_layout);
/// The same where a gray picture comes out.
void expect_gray_picture(FilterHarness& filter, const Picture& picture, const Integral& how,
                         const FormatSpec& format, const Layout& layout = packed_layout);

/// What leaves it as a picture: of a table, or mean, stddev or threshold. format: GRAY8 or
/// GRAY16_LE; of a mean or a deviation the one that natural_format() names.
Picture gray_picture_of(const Picture& picture, const Integral& how, const FormatSpec& format);
/// GRAY8 for mean and stddev of 8 bits and for all thresholds and tables, else GRAY16_LE.
const FormatSpec& natural_format(const Picture& picture, Output output);

/// What `denoise` makes of a picture.
Picture denoised(const Picture& picture, const Integral& how);

}  // namespace check
