// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/check/common/elementundertest.h"
#include "tests/check/common/pictures/picture.h"
#include "tests/kernels/noise/noise_definition.h"

/// The expected outputs of cudaintegral, by the definitions of tests/kernels. Nothing here calls
/// the code under test.
namespace check {

enum class Output { sum, squared_sum, tilted_sum, mean, stddev, threshold, denoise, guided };
inline constexpr Output all_outputs[] = {Output::sum,     Output::squared_sum, Output::tilted_sum,
                                         Output::mean,    Output::stddev,      Output::threshold,
                                         Output::denoise, Output::guided};
inline constexpr Output all_tables[] = {Output::sum, Output::squared_sum, Output::tilted_sum};
inline bool is_table(Output output) {
  return output <= Output::tilted_sum;
}
/// Returns true if the output has the format of the input.
inline bool keeps_format(Output output) {
  return output >= Output::denoise;
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
  double chroma_strength = -1;
  double epsilon = 100;
  bool invert = false;
  bool limited = false;  ///< luma lies in 16…235 (times 2^(bits − 8)), as the caps say

  Properties properties() const;
  std::string description() const { return text_of(properties()); }
};
Integral with_radius(Output output, int radius);
Integral denoising(double strength = 60, int search = 5, int patch = 3);
Integral guided_filter(int radius = 3, double epsilon = 5000);

/// The noise of the channels, over time.
using NoiseSoFar = std::array<cudavision::test::DefinedNoise, 4>;

/// A buffer of other/tensors.
struct Tensor {
  int columns = 0, rows = 0;
  std::string type;                 ///< NNStreamer's name of the element type
  std::vector<std::uint8_t> bytes;  ///< row after row

  /// Returns the caps with the given framerate.
  std::string caps(const std::string& framerate = "25/1") const;
};

Tensor tensor_of(const Picture& picture, const Integral& how);

/// Returns mean, stddev, threshold or the picture of a table, in GRAY8 or GRAY16_LE. For mean and
/// stddev, the format must be natural_format().
Picture gray_picture_of(const Picture& picture, const Integral& how, const FormatSpec& format);
/// Returns GRAY16_LE for mean and stddev of more than 8 bits, and GRAY8 in all other cases.
const FormatSpec& natural_format(const Picture& picture, Output output);

/// noise: of the channels, in the frames before this one; it takes that of this frame. The
/// neighbours are the other frames that are searched; the format must be a native one if there are
/// any.
Picture denoised(const Picture& picture, const Integral& how, NoiseSoFar& noise,
                 const std::vector<Picture>& neighbours = {});
/// For known strengths.
Picture denoised(const Picture& picture, const Integral& how,
                 const std::vector<Picture>& neighbours = {});
Picture guided(const Picture& picture, const Integral& how);
/// Returns the result of an output that keeps the format.
Picture filtered(const Picture& picture, const Integral& how);

}  // namespace check
