// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/base/propertytables.h"

#include <gst/check/gstcheck.h>

#include <cstring>

namespace check {
namespace {

constexpr auto ready = Change::ready, playing = Change::playing, never = Change::never;

}  // namespace

const std::vector<ElementSpec>& element_specs() {
  static const std::vector<ElementSpec> list = {
      {"cudahistequalize",
       {{"method", playing, "equalize", "clahe", 0, 0, "equalize clahe"},
        {"clip-limit", playing, "2", "3.5", 0, 65536},
        {"tiles-x", ready, "8", "64", 1, 64},
        {"tiles-y", ready, "8", "1", 1, 64},
        {"channels", playing, "luma", "rgb", 0, 0, "luma rgb"},
        {"strength", playing, "1", "0.25", 0, 1},
        {"smoothing-time", playing, "0", "1000000000", 0, 18446744073709551615.0},
        {"scene-cut-threshold", playing, "0.25", "0.75", 0, 1},
        {"statistics-region", playing, "frame", "regions", 0, 0, "frame regions"},
        {"post-messages", playing, "false", "true"},
        {"message-interval", playing, "0", "12345678901", 0, 18446744073709551615.0}}},
      {"cudagaussblur",
       {{"method", playing, "gaussian", "mosaic", 0, 0, "gaussian mosaic solid"},
        {"sigma", playing, "1.2", "-12.5", -127, 127},
        {"sigma-y", playing, "0", "0.25", 0, 127},
        {"kernel-size", playing, "0", "31", 0, 1023},
        {"kernel-size-y", playing, "0", "1023", 0, 1023},
        {"border", playing, "reflect-101", "wrap", 0, 0,
         "reflect-101 replicate reflect wrap constant"},
        {"border-color", playing, "0xff000000", "0x80ff4020", 0, 4294967295.0},
        {"blur-alpha", playing, "true", "false"},
        {"fine", playing, "false", "true"},
        {"block-size", playing, "16", "256", 2, 256},
        {"solid-color", playing, "0xff000000", "0x80ff4020", 0, 4294967295.0}}},
      {"cudaintegral",
       {{"output", ready, "sum", "tilted-sum", 0, 0,
         "sum squared-sum tilted-sum mean stddev threshold denoise"},
        {"table-layout", ready, "padded", "same-size", 0, 0, "padded same-size"},
        {"element-type", ready, "auto", "float64", 0, 0, "auto uint32 uint64 float32 float64"},
        {"radius", playing, "7", "65535", 0, 65535},
        {"threshold-method", playing, "bradley", "sauvola", 0, 0, "bradley sauvola"},
        {"threshold-ratio", playing, "0.15", "0.25", 0, 1},
        {"threshold-k", playing, "0.2", "0.5", 0, 1},
        {"threshold-range", playing, "0", "100.5", 0, 65535},
        {"threshold-invert", playing, "false", "true"},
        {"search-size", playing, "21", "101", 1, 101},
        {"patch-size", playing, "7", "1", 1, 31},
        {"denoise-strength", playing, "10", "3.25", 0, 255}}},
      {"cudasgmstereo",
       {{"output", ready, "disparity", "depth", 0, 0, "disparity depth confidence"},
        {"frame-packing", ready, "none", "top-bottom"},
        {"num-disparities", ready, "128", "1024", 32, 1024},
        {"min-disparity", ready, "0", "-2047", -2047, 2015},
        {"paths", ready, "4", "8", 4, 8},
        {"census", ready, "census-gradient", "neighbours-9x7", 0, 0,
         "census-gradient symmetric-9x7 neighbours-9x7 neighbours-5x5"},
        {"compatibility", ready, "none", "libsgm", 0, 0, "none libsgm"},
        {"memory-budget", ready, "0.25", "1000000", 0, 1e15},
        {"calibration", ready, "", "stereo.yml"},
        {"calibration-left", ready, "", "left.yaml"},
        {"calibration-right", ready, "", "right.yaml"},
        {"alpha", ready, "-1", "0.75", -1, 1},
        {"p1", playing, "0", "254", 0, 254},
        {"p2", playing, "0", "255", 0, 255},
        {"adaptive-p2", playing, "true", "false"},
        {"uniqueness", playing, "0.95", "0.5", 0, 1},
        {"subpixel", playing, "true", "false"},
        {"subpixel-method", playing, "equiangular", "parabola", 0, 0, "equiangular parabola"},
        {"median", playing, "true", "false"},
        {"lr-max-diff", playing, "1", "-1", -1, 1024},
        {"speckle-size", playing, "100", "2147483647", 0, max_int},
        {"speckle-range", playing, "1", "0", 0, 1024},
        {"confidence-threshold", playing, "0", "40", 0, 255},
        {"fill-holes", playing, "false", "true"},
        {"refine", playing, "true", "false"},
        {"slanted-surfaces", playing, "true", "false"},
        {"temporal-alpha", playing, "1", "0.4", 1.0 / 256, 1},
        {"temporal-delta", playing, "1", "20", 0, 1024},
        {"temporal-persistence", playing, "0", "3", 0, 255},
        {"preset", playing, "balanced", "dense", 0, 0, "custom fast balanced accurate dense"},
        {"focal-length", playing, "0", "712.5", 0, 1e6},
        {"baseline", playing, "0", "63.25", 0, 1e6},
        {"depth-unit", playing, "1", "0.25", 0.001, 1e6},
        {"colormap", playing, "turbo", "jet", 0, 0, "turbo jet gray"},
        {"colormap-range", playing, "", "auto"},
        {"max-skew", playing, "-1", "9223372036854775807", -1, 9223372036854775807.0},
        {"frames-in-flight", ready, "0", "3", 0, 16},
        {"diagnostics-interval", playing, "1000000000", "12345678901", 0, 18446744073709551615.0},
        {"invalid-value", never, "65520", nullptr, 0, 65535},
        {"disparity-scale", never, "16", nullptr, 1, 16},
        {"dropped-left", never, "0", nullptr, 0, 18446744073709551615.0},
        {"dropped-right", never, "0", nullptr, 0, 18446744073709551615.0}}},
  };
  return list;
}

const std::vector<PropertySpec>& filter_properties() {
  static const std::vector<PropertySpec> list = {
      {"frames-in-flight", ready, "0", "16", 0, 16},
  };
  return list;
}

const std::vector<PropertySpec>& region_properties() {
  static const std::vector<PropertySpec> list = {
      {"regions", playing, "", "1,2,3,4;0.5,0.5,0.25,0.25"},
      {"use-roi-meta", playing, "false", "true"},
      {"region-types", playing, "", "face,plate"},
      {"region-shape", playing, "rectangle", "ellipse", 0, 0, "rectangle ellipse"},
      {"region-margin", playing, "0", "12", 0, 65535},
      {"region-feather", playing, "0", "65535", 0, 65535},
      {"region-invert", playing, "false", "true"},
      {"regions-missing", playing, "pass", "all", 0, 0, "pass all"},
      {"region-persistence", playing, "0", "200000000", 0, 18446744073709551615.0},
  };
  return list;
}

const std::vector<PropertySpec>& device_properties() {
  static const std::vector<PropertySpec> list = {
      {"backend", ready, "auto", "cpu", 0, 0, "auto cuda cpu"},
      {"active-backend", never, "none", nullptr, 0, 0, "none cpu cuda"},
      {"cuda-device-id", ready, "-1", "3", -1, max_int},
  };
  return list;
}

bool is_filter(const char* element) {
  return std::strcmp(element, "cudasgmstereo") != 0;
}

Value::Value(const GParamSpec* spec, const char* text) : Value(spec) {
  fail_unless(gst_value_deserialize(&value_, text), "%s is not a value of %s", text, spec->name);
}

void expect_read_back(GstElement* element, const char* property, const char* text) {
  const GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  Value other(spec, text), read(spec);
  g_object_set_property(G_OBJECT(element), property, other.get());
  g_object_get_property(G_OBJECT(element), property, read.get());
  fail_unless(read == other, "%s=%s reads back as another value", property, text);
}

}  // namespace check
