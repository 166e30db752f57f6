// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/elementundertest.h"

namespace check {

const RegisteredElement row(ElementUnderTest{
    {"cudagaussblur",
     {{"sigma", Change::playing, "1.2", "-12.5", -127, 127},
      {"sigma-y", Change::playing, "0", "0.25", 0, 127},
      {"kernel-size", Change::playing, "0", "31", 0, 1023},
      {"kernel-size-y", Change::playing, "0", "1023", 0, 1023},
      {"border", Change::playing, "reflect-101", "wrap", 0, 0,
       "reflect-101 replicate reflect wrap constant"},
      {"border-color", Change::playing, "0xff000000", "0x80ff4020", 0, 4294967295.0},
      {"blur-alpha", Change::playing, "true", "false"},
      {"fine", Change::playing, "false", "true"},
      {"region-strength", Change::playing, "0", "0.25", 0, 1}},
     {{{{"sigma", "500"}}, {"sigma=500", "-127 to 127"}, {"I420"}},
      {{{"sigma", "nan"}}, {"sigma=nan", "-127 to 127"}, {"I420"}},
      {{{"sigma", "-2"}, {"region-strength", "0.5"}},
       {"sigma=-2", "region-strength=0.5", "set sigma to 0 or more"},
       {"I420"}},
      {{{"kernel-size", "1025"}}, {"kernel-size=1025", "0 to 1023"}, {"I420"}},
      {{{"kernel-size", "2"}}, {"kernel-size", "1", "3"}, {"I420"}},
      {{{"kernel-size", "64"}}, {"kernel-size", "63", "65"}, {"I420"}},
      {{{"kernel-size", "1022"}}, {"kernel-size", "1021", "1023"}, {"I420"}},
      {{{"kernel-size-y", "2"}}, {"kernel-size-y", "1", "3"}, {"I420"}},
      {{{"kernel-size-y", "64"}}, {"kernel-size-y", "63", "65"}, {"I420"}},
      {{{"kernel-size-y", "1022"}}, {"kernel-size-y", "1021", "1023"}, {"I420"}}}},
    {},
    {},
    {"sigma", "1.2"},
    {"sigma", "0"},
    {"sigma", "-3"},
    {"kernel-size", "4"},
    {"kernel-size", "0"},
    0,
    +[](const Picture& picture, bool) {
      Blur how;
      how.fields = picture.interlaced;
      return blurred(picture, how);
    }});

}  // namespace check
