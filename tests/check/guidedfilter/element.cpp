// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/guideddefinition.h"
#include "tests/check/common/elementundertest.h"

namespace check {

const RegisteredElement row(ElementUnderTest{
    {"cudaguidedfilter",
     {{"radius", Change::playing, "7", "65535", 0, 65535},
      {"epsilon", Change::playing, "100", "650.25", 0, 65025}},
     {{{{"radius", "70000"}}, {"radius=70000", "0 to 65535"}, {"I420"}},
      {{{"epsilon", "nan"}}, {"epsilon=nan", "0 to 65025"}, {"I420"}}}},
    {{"radius", "3"}, {"epsilon", "5000"}},
    {},
    {"epsilon", "5000"},
    {"epsilon", "0"},
    {"epsilon", "650.25"},
    {"radius", "-1"},
    {"radius", "3"},
    0,
    +[](const Picture& picture, bool) {
      return guided(picture, {3, 5000});
    }});

}  // namespace check
