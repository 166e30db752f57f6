// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/elementundertest.h"

namespace check {

const RegisteredElement row(ElementSpec{
    "cudathreshold",
    {{"method", Change::playing, "bradley", "sauvola", 0, 0, "bradley sauvola"},
     {"radius", Change::playing, "7", "65535", 0, 65535},
     {"ratio", Change::playing, "0.15", "0.25", 0, 1},
     {"k", Change::playing, "0.2", "0.5", 0, 1},
     {"range", Change::playing, "0", "100.5", 0, 65535},
     {"invert", Change::playing, "false", "true"},
     {"speckle-size", Change::playing, "0", "100", 0, G_MAXINT}},
    {{{{"radius", "70000"}}, {"radius=70000", "0 to 65535"}, {"I420"}},
     {{{"speckle-size", "-1"}}, {"speckle-size=-1", "at least 0"}, {"I420"}}}});

}  // namespace check
