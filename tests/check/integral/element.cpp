// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/integraldefinition.h"
#include "tests/check/common/elementundertest.h"

namespace check {
namespace {

const Property denoise = {"output", "denoise"};

const RegisteredElement row(ElementUnderTest{
    {"cudaintegral",
     {{"output", Change::ready, "sum", "tilted-sum", 0, 0,
       "sum squared-sum tilted-sum mean stddev threshold denoise guided"},
      {"table-layout", Change::ready, "padded", "same-size", 0, 0, "padded same-size"},
      {"element-type", Change::ready, "auto", "float64", 0, 0,
       "auto uint32 uint64 float32 float64"},
      {"radius", Change::playing, "7", "65535", 0, 65535},
      {"threshold-method", Change::playing, "bradley", "sauvola", 0, 0, "bradley sauvola"},
      {"threshold-ratio", Change::playing, "0.15", "0.25", 0, 1},
      {"threshold-k", Change::playing, "0.2", "0.5", 0, 1},
      {"threshold-range", Change::playing, "0", "100.5", 0, 65535},
      {"threshold-invert", Change::playing, "false", "true"},
      {"search-size", Change::playing, "21", "101", 1, 101},
      {"patch-size", Change::playing, "7", "1", 1, 31},
      {"denoise-strength", Change::playing, "10", "3.25", -1, 255},
      {"denoise-chroma-strength", Change::playing, "-1", "7.5", -1, 255},
      {"denoise-frames", Change::playing, "1", "5", 1, 9},
      {"post-messages", Change::playing, "false", "true"},
      {"message-interval", Change::playing, "0", "12345678901", 0, 18446744073709551615.0},
      {"guided-epsilon", Change::playing, "100", "650.25", 0, 65025}},
     {{{"I420"}, {{"regions", "0,0,5,5"}}, {"regions", "output=denoise"}},
      {{"I420"},
       {{"output", "mean"}, {"use-roi-meta", "true"}},
       {"use-roi-meta", "output=denoise", "output=guided"}},
      {{"I420"}, {{"radius", "70000"}}, {"radius=70000", "0 to 65535"}},
      {{"I420"}, {denoise, {"search-size", "6"}}, {"search-size=5", "search-size=7"}},
      {{"I420"}, {denoise, {"patch-size", "6"}}, {"patch-size=5", "patch-size=7"}},
      {{"I420"}, {denoise, {"denoise-frames", "4"}}, {"denoise-frames=3", "denoise-frames=5"}},
      {{"I420"}, {denoise, {"denoise-strength", "-0.5"}}, {"denoise-strength=-0.5", "0 to 255"}},
      {{"I420"},
       {denoise, {"denoise-chroma-strength", "-0.25"}},
       {"denoise-chroma-strength=-0.25", "0 to 255"}}}},
    // Denoising has the format of its input, which most outputs have not. A small search saves
    // time, and the strength is large enough to change every picture of these tests.
    {denoise, {"search-size", "5"}, {"patch-size", "3"}, {"denoise-strength", "60"}},
    {},
    {"denoise-strength", "60"},
    {"denoise-strength", "0"},
    {"denoise-strength", "20"},
    {"search-size", "4"},
    {"search-size", "5"},
    0,
    +[](const Picture& picture, bool) { return denoised(picture, denoising()); },
    false,
    "element-type"});

}  // namespace
}  // namespace check
