// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/pixelatedefinition.h"
#include "tests/check/common/elementundertest.h"

namespace check {

const RegisteredElement row(ElementUnderTest{
    {"cudapixelate",
     {{"method", Change::playing, "mosaic", "solid", 0, 0, "mosaic solid"},
      {"block-size", Change::playing, "16", "256", 2, 256},
      {"color", Change::playing, "0xff000000", "0x80ff4020", 0, 4294967295.0},
      {"hide-alpha", Change::playing, "true", "false"},
      {"region-strength", Change::playing, "0", "0.25", 0, 1}},
     {{{{"block-size", "500"}}, {"block-size=500", "2 to 256"}, {"I420"}}}},
    {},
    {},
    {"use-roi-meta", "false"},
    {"use-roi-meta", "true"},  // finds no region in most frames
    {"block-size", "5"},
    {"block-size", "1"},
    {"block-size", "16"},
    0,
    +[](const Picture& picture, bool) {
      Pixelation how;
      how.fields = picture.interlaced;
      return pixelated(picture, how);
    }});

}  // namespace check
