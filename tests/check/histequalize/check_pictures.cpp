// SPDX-License-Identifier: LGPL-2.1-or-later
// Photographs through whole pipelines, from the compressed file to the equalised pixels.
#include "tests/check/common/definition.h"
#include "tests/check/common/filterharness.h"
#include "tests/check/common/photographs.h"

using namespace check;

namespace {

/// Compares what comes out of the element with the definition applied to what went in; caps and
/// properties as in a launch line.
void expect_equalized(const Photograph& photograph, const FormatSpec& format,
                      const std::string& more_caps, const std::string& properties,
                      const Equalization& how) {
  const auto [before, after] = photograph_through(
      photograph, format, more_caps, "cudahistequalize backend=" + test_backend() + properties);
  expect_picture(after, equalized(before, how), photograph.file + more_caps + properties);
}

}  // namespace

GST_START_TEST(test_gray_photographs) {
  for (const Photograph& photograph : photographs)
    expect_equalized(photograph, format_named("GRAY8"), ",colorimetry=1:4:0:0", "", {});
}
GST_END_TEST

GST_START_TEST(test_colour_photographs) {
  Equalization limited, each, half;
  limited.limited = true;
  each.each_channel = true;
  half.strength = 0.5;
  for (const Photograph& photograph : photographs) {
    expect_equalized(photograph, format_named("I420"), ",colorimetry=bt601", "", limited);
    expect_equalized(photograph, format_named("NV12"), ",colorimetry=1:4:7:1", "", {});
    expect_equalized(photograph, format_named("RGBx"), "", "", {});
    expect_equalized(photograph, format_named("BGR"), "", " channels=rgb", each);
    expect_equalized(photograph, format_named("GBR"), "", " strength=0.5", half);
  }
}
GST_END_TEST

GST_START_TEST(test_deep_photographs) {
  Equalization limited;
  limited.limited = true;
  for (const Photograph& photograph : photographs) {
    expect_equalized(photograph, format_named("GRAY16_LE"), "", "", {});
    expect_equalized(photograph, format_named("P010_10LE"), ",colorimetry=bt709", "", limited);
    expect_equalized(photograph, format_named("I420_10LE"), ",colorimetry=bt709", "", limited);
  }
}
GST_END_TEST

static Suite* check_pictures_suite() {
  Suite* suite = suite_create("cudahistequalize pictures");
  TCase* tc = tcase_create("photographs");
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, 120);
  const std::string reason = unless_photographs();
  ADD_TEST_UNLESS(tc, test_gray_photographs, reason);
  ADD_TEST_UNLESS(tc, test_colour_photographs, reason);
  ADD_TEST_UNLESS(tc, test_deep_photographs, reason);
  return suite;
}

GST_CHECK_MAIN(check_pictures)
