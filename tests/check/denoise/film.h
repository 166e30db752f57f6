// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/definitions/denoisedefinition.h"
#include "tests/check/common/filterharness.h"

/// Films for the tests of the property frames.
namespace check {

inline constexpr GstClockTime frame_time = 40 * GST_MSECOND;
inline constexpr Size film_size = {29, 18};

/// Noisy frames of a pattern that moves slowly. `level` decides about its brightness, in the units
/// of samples but for 16 bits in those of 8 bits, so that films of different levels are different
/// scenes.
std::vector<Picture> film(const char* format, int frames, int level = 40, unsigned seed = 1,
                          const Size& size = film_size);

/// Returns true if a frame begins a new scene: if its areas change by more than a quarter, or if
/// more than a quarter of the pixels have moved to other bins of the histogram of the luminance, or
/// of green in RGB of more than 8 bits. Values of 16 bits count by the upper eight.
bool begins_scene(const Picture& before, const Picture& frame);

/// Returns the frames that are searched around frame number i, of those from `first` to before
/// `end`.
std::vector<Picture> neighbours_of(const std::vector<Picture>& pictures, int i, int frames,
                                   int first, int end);
/// Returns what the frame becomes with the settings of Film.
Picture expected(const std::vector<Picture>& pictures, int i, int frames, int first, int end);

/// cudadenoise while it denoises a film.
class Film {
 public:
  /// Sends the caps of the film.
  explicit Film(int frames, const char* format = "GRAY8", const Properties& more = {},
                const Size& size = film_size);

  GstFlowReturn push(const Picture& picture) { return push(to_buffer(picture)); }
  /// Gives the buffer the next time.
  GstFlowReturn push(GstBuffer* buffer) { return filter.push(at(pushed_++ * frame_time, buffer)); }
  /// Pushes these frames of the film, which must be accepted.
  void push(const std::vector<Picture>& pictures, int first, int end);
  /// Expects the next output, which must be the given picture and have the next time.
  void expect(const Picture& picture, const std::string& what);
  /// Expects what these frames become if those from `first` to before `end` are a scene.
  void expect(const std::vector<Picture>& pictures, int frames, int first, int end);
  /// Expects that the next output stands for a missing frame.
  void expect_missing();
  void expect_none() { fail_if(filter.pull(), "there is an output too early"); }

  FilterHarness filter;

 private:
  guint64 pushed_ = 0, pulled_ = 0;
};

}  // namespace check
