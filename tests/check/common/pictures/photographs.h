// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

#include "tests/check/common/owned.h"
#include "tests/check/common/pictures/picture.h"

namespace check {

struct Photograph {
  const char* file;
  const char* decoder;
};
inline constexpr Photograph photographs[] = {{"fruits.jpg", "jpegdec"},
                                             {"baboon.jpg", "jpegdec"},
                                             {"box_in_scene.png", "pngdec"},
                                             {"aloeL.jpg", "jpegdec"}};

/// Returns a picture's path in CUDAVISION_TEST_PICTURES or opencv-doc; see picturefiles.inc.
std::string picture_file(const std::string& name);

/// Returns the path of opencv-doc's street video, or of its first frames in H.264 on GPU hosts.
std::string street_film();
/// Returns why tests of this video cannot run; empty if they can.
std::string unless_street();

std::string unless_pictures(const std::vector<std::string>& names);
std::string unless_photographs();

Owned<GstSample> pull_sample(GstElement* pipeline, const char* sink);
/// The sample must have the format.
Picture picture_in(GstSample* sample, const FormatSpec& format);

Picture decoded(const std::string& file, const char* decoder, const FormatSpec& format);

struct BeforeAfter {
  Picture before, after;
};

/// Returns the element's input and output. `more_caps` and `element` are parts of a launch line.
BeforeAfter photograph_through(const Photograph& photograph, const FormatSpec& format,
                               const std::string& more_caps, const std::string& element);

}  // namespace check
