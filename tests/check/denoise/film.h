// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/definitions/denoisedefinition.h"
#include "tests/check/common/filterharness.h"

namespace check {

inline constexpr GstClockTime frame_time = 40 * GST_MSECOND;
inline constexpr Size film_size = {29, 18};

/// Makes noisy frames of a slowly moving pattern. `level` is the pattern's smallest sample
/// (16-bit formats: divided by 256); scenes differ in it.
std::vector<Picture> film(const char* format, int frames, int level = 40, unsigned seed = 1,
                          const Size& size = film_size);

/// Returns true if the area means change by more than 1/4 (cuda/scenecut/scenecut.h), or if more
/// than a quarter of the pixels change their histogram bin. The histogram counts luminance (green
/// in RGB of more than 8 bits); of 16-bit samples, it uses the upper 8 bits.
bool begins_scene(const Picture& before, const Picture& frame);

std::vector<Picture> neighbours_of(const std::vector<Picture>& pictures, int i, int frames,
                                   int first, int end);
Picture expected(const std::vector<Picture>& pictures, int i, int frames, int first, int end);

class Film {
 public:
  explicit Film(int frames, const char* format = "GRAY8", const Properties& more = {},
                const Size& size = film_size);

  GstFlowReturn push(const Picture& picture) { return push(to_buffer(picture)); }
  GstFlowReturn push(GstBuffer* buffer) { return filter.push(at(pushed_++ * frame_time, buffer)); }
  /// The frames must be accepted.
  void push(const std::vector<Picture>& pictures, int first, int end);
  void expect(const Picture& picture, const std::string& what);
  /// Expects the frames from `first` to `end` - 1, denoised as one scene.
  void expect(const std::vector<Picture>& pictures, int frames, int first, int end);
  void expect_missing();
  void skip_outputs(guint64 count) { pulled_ += count; }  ///< skips outputs that were dropped
  void expect_none() { fail_if(filter.pull(), "a frame was pushed too early"); }

  FilterHarness filter;

 private:
  guint64 pushed_ = 0, pulled_ = 0;
};

}  // namespace check
