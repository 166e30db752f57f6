// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>

#include "cuda/sgm/sgmstereo.h"
#include "tests/check/common/stereoharness.h"
#include "tests/check/common/temporaryfile.h"
#include "tests/fuzz/life.h"

namespace fuzz {

/// Returns the path of a stereo calibration for 80×60 images.
inline std::string calibration_file() {
  static const check::TemporaryFile file("fuzz-XXXXXX.json",
                                         R"({"image_width": 80, "image_height": 60,
            "M1": [[70.0, 0, 39.0], [0, 70.0, 30.0], [0, 0, 1]], "D1": [-0.3, 0.1, 0.0, 0.0, 0.0],
            "M2": [[71.0, 0, 40.0], [0, 71.0, 29.0], [0, 0, 1]], "D2": [-0.2, 0.1, 0.0, 0.0, 0.0],
            "R": [[0.9998, 0.0, 0.019999], [0.0, 1.0, 0.0], [-0.019999, 0.0, 0.9998]],
            "T": [-60.0, 2.0, 1.0]})");
  return file.name();
}

/// The properties of an episode of cudasgmstereo.
class StereoSettings : public Life {
 protected:
  StereoSettings(unsigned seed, check::BufferCount& buffers) : Life(seed, buffers) {
    packed_ = below(3) == 0;
    set("num-disparities", one_of({"32", "64", "96"}));
    set("min-disparity", one_of({"0", "0", "-7", "12"}));
    set("census", one_of({"census-gradient", "symmetric-9x7", "neighbours-9x7", "neighbours-5x5"}));
    set("paths", one_of({"4", "8"}));
    set("memory-budget", one_of({"0.25", "1", "50000000"}));
    if (below(4) == 0) {
      set("census", "symmetric-9x7");
      set("compatibility", "libsgm");
    }
    set("output", one_of({"disparity", "disparity", "depth", "confidence"}));
    set("focal-length", "300");
    set("baseline", "80");
    set("diagnostics-interval", one_of({"0", "1", "100000000", "1000000000"}));
    set("frames-in-flight", one_of({"1", "2", "3", "8"}));
    set("known-distance", one_of({"", "", "40,30,1000", "0,0,1e9", "79,59,1"}));
#ifdef CUDAVISION_TEST_HAVE_OPENCV
    rectified_ = below(4) == 0;
    set("calibration-drift", one_of({"off", "warn", "warn", "correct"}));
#endif
    if (rectified_) {
      set("calibration", below(3) == 0 ? "auto" : calibration_file());
      set("alpha", one_of({"-1", "0", "0.4", "1"}));
    }
  }

  // Appends the property, because a preset sets others, so order matters. `custom` has no effect.
  void set(const char* name, const std::string& value) {
    if (value == "custom")
      return;
    const auto is_it = [=](const check::Property& property) {
      return std::string(property.first) == name;
    };
    properties_.erase(std::remove_if(properties_.begin(), properties_.end(), is_it),
                      properties_.end());
    properties_.emplace_back(name, value);
  }

  /// Returns true if outputs may depend on earlier frames, for example through an automatic range.
  bool depends_on_the_past() const {
    return std::any_of(properties_.begin(), properties_.end(), [](const check::Property& property) {
      const std::string name = property.first, value = property.second;
      return (name == "temporal-alpha" && value != "1") ||
             (name == "temporal-persistence" && value != "0") ||
             (name == "output" && value == "depth") || name == "colormap-range";
    });
  }

  /// Returns true if the element may have corrected the cameras since it started.
  bool is_corrected() const {
    return std::any_of(properties_.begin(), properties_.end(), [](const check::Property& property) {
      const std::string name = property.first, value = property.second;
      return (name == "calibration-drift" && value == "correct") ||
             (name == "calibration" && value == "auto");
    });
  }

  /// Draws another value of a property, and records it.
  check::Property change_property() {
    using Ranges = cudavision::sgm::Parameters::Ranges;
    const std::pair<const char*, std::string> choices[] = {
        {"p1", one_of({"1", "10", "30"})},
        {"p2", one_of({"40", "120", "190"})},
        {"adaptive-p2", one_of({"true", "false"})},
        {"noise", one_of({"-1", "0", "0.3", "5", "30"})},
        {"uniqueness", one_of({"0", "0.7", "0.95", "1"})},
        {"subpixel", one_of({"true", "false"})},
        {"median", one_of({"true", "false"})},
        {"lr-max-diff", any_in(Ranges::lr_max_diff)},
        {"speckle-size", any_in(Ranges::speckle_size)},
        {"speckle-range", any_in(Ranges::speckle_range)},
        {"fill-holes", one_of({"true", "false"})},
        {"slanted-surfaces", one_of({"true", "false"})},
        {"confidence-threshold", any_in(Ranges::confidence_threshold)},
        {"temporal-alpha", one_of({"1", "0.4", "0.01"})},
        {"temporal-delta", any_in(Ranges::temporal_delta)},
        {"temporal-persistence", any_in(Ranges::temporal_persistence)},
        {"preset", one_of({"custom", "fast", "balanced", "accurate", "dense"})},
        {"colormap", one_of({"turbo", "jet", "gray"})},
        {"colormap-range", one_of({"", "full", "auto", "3.5,20", "depth=100,9000;auto",
                                   "depth=full;confidence=auto"})},
        {"known-distance", one_of({"", "0,0,1", "40,30,700", "40,30,1000", "1e9,0,5"})},
        {"depth-unit", one_of({"0.001", "1", "1000"})},
        {"focal-length", one_of({"1", "300", "1000000"})},
        {"diagnostics-interval", one_of({"0", "1", "40000000", "18446744073709551615"})}};
    const auto& [name, value] = one_of(choices);
    set(name, value);
    return {name, value};
  }

  check::Properties all() const {
    check::Properties properties = properties_;
    if (packed_)
      properties.emplace_back("frame-packing", "side-by-side");
    return properties;
  }

  bool packed_ = false;
  bool rectified_ = false;
  check::Properties properties_;

 private:
  std::string any_in(const cudavision::Range<int>& range) {
    const int between = std::min(range.min + below(100), range.max);
    return std::to_string(one_of({range.min, between, range.max}));
  }
};

}  // namespace fuzz
