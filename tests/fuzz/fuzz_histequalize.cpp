// SPDX-License-Identifier: LGPL-2.1-or-later
// Anything that a pipeline could do to cudahistequalize, see episode.h.
#include "tests/check/common/definition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

class EqualizeEpisode final : public fuzz::Episode {
 public:
  EqualizeEpisode(unsigned seed, int& alive) : Episode("cudahistequalize", seed, alive) {}

 private:
  bool possible(const FormatSpec& format) const override {
    return !how_.each_channel || format.family == Family::rgb;
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind& kind) const override {
    Equalization how = how_;
    how.limited = kind.limited;
    return equalized(picture, how);
  }

  void change_properties() override {
    if (below(2) == 0) {
      how_.strength = one_of({0.0, 0.25, 0.5, 1.0});
      gchar text[G_ASCII_DTOSTR_BUF_SIZE];
      filter().set("strength", g_ascii_dtostr(text, sizeof text, how_.strength));
    }
    if (below(2) == 0) {
      how_.each_channel = below(2) == 0;
      filter().set("channels", how_.each_channel ? "rgb" : "luma");
    }
    if (below(3) == 0)
      filter().set("post-messages", below(2) == 0 ? "true" : "false");
    if (below(3) == 0)
      filter().set("message-interval", std::to_string(any_number()));
  }

  void mend() override {
    how_.each_channel = false;
    filter().set("channels", "luma");
  }

  Equalization how_;
};

}  // namespace

GST_START_TEST(fuzz_operations) {
  fuzz::run_episodes(
      [](unsigned seed, int& alive) { return std::make_unique<EqualizeEpisode>(seed, alive); });
}
GST_END_TEST

static Suite* fuzz_histequalize_suite() {
  Suite* suite = suite_create("cudahistequalize fuzz");
  TCase* tc = tcase_create("operations");
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, fuzz::time_limit());
  tcase_add_test(tc, fuzz_operations);
  return suite;
}

GST_CHECK_MAIN(fuzz_histequalize)
