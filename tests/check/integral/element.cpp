// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/elementundertest.h"

namespace check {

const RegisteredElement row(ElementSpec{
    "cudaintegral",
    {{"output", Change::ready, "sum", "tilted-sum", 0, 0, "sum squared-sum tilted-sum mean stddev"},
     {"table-layout", Change::ready, "padded", "same-size", 0, 0, "padded same-size"},
     {"element-type", Change::ready, "auto", "float64", 0, 0, "auto uint32 uint64 float32 float64"},
     {"radius", Change::playing, "7", "65535", 0, 65535}},
    {{{{"radius", "70000"}}, {"radius=70000", "0 to 65535"}, {"I420"}}}});

}  // namespace check
