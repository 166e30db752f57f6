// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cuda/core/border.h"
#include "cuda/core/frame.h"
#include "cuda/regions/regions.h"
#include "tests/check/common/elementundertest.h"
#include "tests/check/common/picture.h"
#include "tests/kernels/clahe/clahe_definition.h"
#include "tests/kernels/histogramaverage/histogramaverage_definition.h"

/// The expected outputs of the elements. Structs describe their properties and caps, and functions
/// apply the definitions of tests/kernels to Pictures. Nothing here calls the code under test.
namespace check {

/// Returns the picture in native_format() if operations cannot read its own.
Picture native(const Picture& picture);

namespace definition = cudavision::test;
/// Return the picture's layout and planes in the form that the definitions require.
cudavision::FrameLayout layout_of(const Picture& picture);
cudavision::ConstFrame frame_of(const Picture& picture);
cudavision::Frame frame_of(Picture& picture);

/// Formats a number for a launch line, independently of the locale.
std::string text_of(double value);

/* cudahistequalize */

using Regions = cudavision::regions::Parameters;
using Box = cudavision::regions::Box;
using RegionShape = cudavision::regions::Shape;

struct Equalization {
  bool each_channel = false;  ///< red, green and blue have a table each
  double strength = 1.0;
  bool limited = false;   ///< luma lies in 16…235 (times 2^(bits − 8))
  bool adaptive = false;  ///< method=clahe
  double clip_limit = 2.0;
  int tiles_x = 8, tiles_y = 8;

  /// All except the tiles, which cannot change while the element plays.
  Properties properties() const;
  Properties tile_properties() const;
};

Picture equalized(const Picture& picture, const Equalization& how);

/// Equalises all of the picture by the histogram of its regions. The method is that of one table.
Picture equalized_by_regions(const Picture& picture, const Equalization& how,
                             const Regions& regions);

/// Equalises the frames of a video with smoothing.
class SmoothedEqualization {
 public:
  /// The arguments are those of a frame: `elapsed` is the time since the one before it, in ns.
  /// With regions, only their pixels count.
  Picture next(const Picture& picture, const Equalization& how, double elapsed,
               double smoothing_time, double scene_cut_threshold, const Regions* regions = nullptr);

  /// Forgets the frames before the next one.
  void restart() {
    average_.restart();
    adaptive_.restart();
  }

 private:
  /// The method of the last frame. Another one begins a new average.
  bool was_adaptive_ = false;
  definition::DefinedSmoothedClahe adaptive_;
  definition::DefinedAverage average_;
  definition::DefinedHysteresis hysteresis_;
};

using Bins = std::vector<std::uint32_t>;

/// Returns the number of pixels of each luminance.
Bins luminance_histogram(const Picture& picture);
/// Returns the number of pixels of each luminance in the regions.
Bins luminance_histogram(const Picture& picture, const Regions& regions);

struct Statistics {
  double mean = 0, stddev = 0;
  double entropy = 0;  ///< in bits
  int minimum = 0, maximum = 0;
};
Statistics statistics_of(const Bins& bins);

/// The smallest value that at least `percent` of all pixels do not exceed.
int percentile_of(const Bins& bins, int percent);

/* cudagaussblur */

using Edge = cudavision::Border;
inline constexpr Edge all_edges[] = {Edge::reflect_101, Edge::replicate, Edge::reflect, Edge::wrap,
                                     Edge::constant};
const char* nick_of(Edge edge);

/// The properties of cudagaussblur and the relevant parts of the caps.
struct Blur {
  double sigma = 1.2;
  double sigma_y = 0;
  int kernel_size = 0;
  int kernel_size_y = 0;
  Edge edge = Edge::reflect_101;
  std::uint32_t color = 0xff000000;
  bool blur_alpha = true;
  bool fine = false;

  bool fields = false;   ///< the frame is interlaced
  bool limited = false;  ///< the samples have limited range; their matrix is BT.601

  Properties properties() const;
  std::string description() const;
};

/// If the settings change nothing, the result has every byte of the input. Otherwise the blurred
/// components are rewritten and every other byte is copied.
Picture blurred(const Picture& picture, const Blur& how);

/// Clears the bits above the depth that make_picture() leaves in chroma words.
Picture with_valid_chroma(Picture picture);

/* cudaintegral */

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
  std::string description() const { return text_of(properties()); }
};
Integral with_radius(Output output, int radius);
Integral denoising(double strength = 60, int search = 5, int patch = 3);

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

Picture denoised(const Picture& picture, const Integral& how);

/* Regions of a frame */

/// Returns rectangles with hard edges.
Regions rectangles(const std::vector<Box>& boxes);

/// Formats the regions as properties, in pixels.
Properties properties_of(const Regions& regions);

/// Returns the processed picture in the regions, and the original elsewhere. The format must be one
/// that operations can read.
Picture in_regions(const Picture& original, const Picture& processed, const Regions& regions);

using Process = std::function<Picture(const Picture&)>;

/// Does so for any format: process returns the result without regions, of the original in a format
/// that operations can read or, if the element equalises RGB of more than 8 bits, of its luminance.
Picture in_regions(const Picture& original, const Process& process, const Regions& regions,
                   bool equalizes);

}  // namespace check
