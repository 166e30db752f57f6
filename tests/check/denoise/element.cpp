// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/denoisedefinition.h"
#include "tests/check/common/elementundertest.h"

namespace check {

const RegisteredElement row(ElementUnderTest{
    {"cudadenoise",
     {{"strength", Change::playing, "10", "3.25", -1, 255},
      {"chroma-strength", Change::playing, "-1", "7.5", -1, 255},
      {"search-size", Change::playing, "21", "101", 1, 101},
      {"patch-size", Change::playing, "7", "1", 1, 31},
      {"frames", Change::playing, "1", "5", 1, 9},
      {"post-messages", Change::playing, "false", "true"},
      {"message-interval", Change::playing, "0", "12345678901", 0, 18446744073709551615.0}},
     {{{{"search-size", "6"}}, {"search-size=6 must be odd", "5 or 7"}, {"I420"}},
      {{{"patch-size", "6"}}, {"patch-size=6 must be odd", "5 or 7"}, {"I420"}},
      {{{"frames", "4"}}, {"frames=4 must be odd", "3 or 5"}, {"I420"}},
      {{{"strength", "-2"}}, {"strength=-2", "from 0 to 255, or to -1"}, {"I420"}},
      {{{"strength", "-0.5"}}, {"strength=-0.5", "from 0 to 255, or to -1"}, {"I420"}},
      {{{"chroma-strength", "-0.25"}},
       {"chroma-strength=-0.25", "from 0 to 255, or to -1"},
       {"I420"}}}},
    // A small search is fast, and this strength changes every picture of these tests.
    {{"search-size", "5"}, {"patch-size", "3"}, {"strength", "60"}},
    {{"post-messages", "true"}},
    {"strength", "60"},
    {"strength", "0"},
    {"strength", "20"},
    {"search-size", "4"},
    {"search-size", "5"},
    1,
    +[](const Picture& picture, bool) { return denoised(picture, denoising()); },
    false,
    "a smaller value of the frames property"});

}  // namespace check
