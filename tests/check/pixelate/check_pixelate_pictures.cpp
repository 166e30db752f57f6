// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/pixelatedefinition.h"
#include "tests/check/common/filterharness.h"

using namespace check;

TEST(test_impossible_settings_uncover_nothing) {
  const FormatSpec& format = format_named("I420");
  const Pixelation how{false, 8, 0xff000000, true};
  FilterHarness filter("cudapixelate", how.properties());
  filter.accept_caps(format, 64, 48, colorimetry(format, false));
  const Picture picture = make_picture(format, 64, 48, Content::random, 4);
  filter.process(picture);
  filter.set({{"block-size", "1"}, {"method", "solid"}});
  expect_picture(filter.process(picture), pixelated(picture, how), "the last valid settings");
  fail_unless_equals_int(filter.messages().count(GST_MESSAGE_WARNING), 1);
}
