// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the pixels of cudaguidedfilter with the definition, for every format and many sizes,
// memory layouts and settings.
#include "tests/check/common/definitions/guideddefinition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/pictures/noisypicture.h"
#include "tests/check/common/pictures/random.h"

using namespace check;

TEST(test_formats_and_sizes, .times(formats().size())) {
  const FormatSpec& format = format_number(index);
  FilterHarness filter("cudaguidedfilter");
  unsigned seed = 1;
  for (const Size& size : {Size{1, 1}, Size{1, 2}, Size{2, 1}, Size{1, 23}, Size{21, 1}, Size{5, 3},
                           Size{33, 26}, Size{150, 9}}) {
    filter.accept_caps(format, size.width, size.height, colorimetry(format, false));
    for (const Guided& how : {Guided{7, 100}, Guided{1, 650.25}, Guided{2, 0.3},
                              Guided{65535, 65025}, Guided{0, 100}, Guided{5, 0}}) {
      filter.set(how.properties());
      for (const Picture& picture :
           {noisy_picture(format, size.width, size.height, ++seed),
            make_picture(format, size.width, size.height, all_contents[seed % 5], seed)})
        expect_picture(filter.process(picture, all_layouts[seed % std::size(all_layouts)]),
                       guided(picture, how), how.description());
    }
  }
}

TEST(test_as_made) {
  for (const char* name : {"GRAY8", "NV12", "BGRA", "I420_10LE", "GRAY16_LE"}) {
    const FormatSpec& format = format_named(name);
    FilterHarness filter("cudaguidedfilter");
    filter.accept_caps(format, 48, 27, colorimetry(format, false));
    const Picture picture = noisy_picture(format, 48, 27, 3);
    const Guided how;
    const Picture out = filter.process(picture, odd_layout);
    expect_picture(out, guided(picture, how), "as made");
    fail_unless(!difference(out, picture).empty(), "%s: the filter changed nothing", name);
  }
}

// Only the regions change.
TEST(test_regions) {
  for (const char* name : {"GRAY8", "NV12", "BGRA"}) {
    const FormatSpec& format = format_named(name);
    const Guided how{3, 5000};
    FilterHarness filter("cudaguidedfilter", how.properties());
    filter.set("regions", "0,0,96,10");
    filter.accept_caps(format, 96, 54, colorimetry(format, false));
    const Picture picture = noisy_picture(format, 96, 54, 3), whole = guided(picture, how);
    const Picture out = filter.process(picture, odd_layout);
    for (int x = 0; x < 96; ++x) {
      fail_unless_equals_int(out.sample(0, x, 9), whole.sample(0, x, 9));
      fail_unless_equals_int(out.sample(0, x, 10), picture.sample(0, x, 10));
    }
  }
}

// Tests random combinations. A failure prints its seed.
TEST(test_random_cases, .times(10)) {
  for (unsigned i = 0; i < 6; ++i) {
    const unsigned seed = 1000u * static_cast<unsigned>(index) + i;
    Random random(seed);
    const FormatSpec& format = random.any_format();
    const Guided how{static_cast<int>(random.log_uniform(1, 300)) - 1,
                     random.below(6) == 0 ? 0 : random.log_uniform(0.5, 65025)};
    const int width = static_cast<int>(random.log_uniform(1, 200));
    const int height = static_cast<int>(random.log_uniform(1, 200));
    const Layout layout = random.any_layout();
    FilterHarness filter("cudaguidedfilter", how.properties());
    filter.accept_caps(format, width, height, colorimetry(format, false));
    const Picture picture = make_picture(format, width, height, random.one_of(all_contents), seed);
    expect_picture(filter.process(picture, layout), guided(picture, how),
                   "seed " + std::to_string(seed) + ": " + how.description());
  }
}
