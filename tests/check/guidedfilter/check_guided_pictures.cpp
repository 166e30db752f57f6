// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudaguidedfilter with the definition, for every format and property.
// check_cuda compares more sizes and layouts, and fuzz_guidedfilter random combinations.
#include "tests/check/common/definitions/guideddefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/noisypicture.h"

using namespace check;

TEST(test_settings, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudaguidedfilter");
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 23}, Size{33, 26}, Size{150, 9}}) {
    filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
    for (const Guided& how : {Guided{}, Guided{1, 650.25}, Guided{2, 0.3}, Guided{65535, 65025},
                              Guided{0, 100}, Guided{5, 0}}) {
      filter.set(how.properties());
      for (const Picture& picture :
           {noisy_picture(format, size.width, size.height, ++seed),
            make_picture(format, size.width, size.height, all_contents[seed % 5], seed)})
        expect_picture(filter.process(picture, all_layouts[seed % std::size(all_layouts)]),
                       guided(picture, how), how.description());
    }
  }
  fail_unless_equals_int(filter.messages().complaints(), 0);
}
