// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/elementundertest.h"

namespace check {

const std::vector<const char*> no_rgb = {"NV12", "GRAY8", "GRAY16_LE", "UYVY", "Y444"};
const std::vector<const char*> deep_rgb = {"GBR_10LE", "RGBA64_LE", "RGB10A2_LE"};

const RegisteredElement row(ElementUnderTest{
    {"cudahistequalize",
     {{"method", Change::playing, "equalize", "clahe", 0, 0, "equalize clahe"},
      {"clip-limit", Change::playing, "2", "3.5", 0, 65536},
      {"tiles-x", Change::ready, "8", "64", 1, 64},
      {"tiles-y", Change::ready, "8", "1", 1, 64},
      {"channels", Change::playing, "luma", "rgb", 0, 0, "luma rgb"},
      {"strength", Change::playing, "1", "0.25", 0, 1},
      {"smoothing-time", Change::playing, "0", "1000000000", 0, 18446744073709551615.0},
      {"scene-cut-threshold", Change::playing, "0.25", "0.75", 0, 1},
      {"chroma", Change::playing, "keep", "scale", 0, 0, "keep scale"},
      {"statistics-region", Change::playing, "frame", "regions", 0, 0, "frame regions"},
      {"post-messages", Change::playing, "false", "true"},
      {"message-interval", Change::playing, "0", "12345678901", 0, 18446744073709551615.0}},
     {{{{"channels", "rgb"}}, {"channels"}, no_rgb},
      {{{"channels", "rgb"}}, {"channels", "of 8 bits"}, deep_rgb},
      {{{"method", "clahe"}, {"channels", "rgb"}}, {"channels"}, no_rgb},
      {{{"clip-limit", "-1"}}, {"clip-limit=-1", "0 to 65536"}, {"I420"}},
      {{{"tiles-x", "65"}}, {"tiles-x=65", "1 to 64"}, {"I420"}}}},
    {},
    // With this threshold, smoothing changes no output; see fuzz_histequalize.cpp.
    {{"post-messages", "true"}, {"smoothing-time", "1000000000"}, {"scene-cut-threshold", "0"}},
    {"strength", "1"},
    {"strength", "0"},
    {"strength", "0.5"},
    {"channels", "rgb"},
    {"channels", "luma"},
    1,
    +[](const Picture& picture, bool limited) {
      return equalized(picture, {false, 1, limited});
    },
    true,
    "tiles-x"});

}  // namespace check
