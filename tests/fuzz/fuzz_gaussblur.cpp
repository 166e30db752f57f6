// SPDX-License-Identifier: LGPL-2.1-or-later
// Anything that a pipeline could do to cudagaussblur, see episode.h.
#include "tests/check/common/blurdefinition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

class BlurEpisode final : public fuzz::Episode {
 public:
  BlurEpisode(unsigned seed, int& alive) : Episode("cudagaussblur", seed, alive) {}

 private:
  bool possible(const FormatSpec&) const override {
    const auto even = [](int size) { return size != 0 && size % 2 == 0; };
    return !even(how_.kernel_size) && !even(how_.kernel_size_y);
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind& kind) const override {
    Blur how = how_;
    how.limited = kind.limited;
    how.fields = kind.interlaced;
    return blurred(picture, how);
  }

  void change_properties() override {
    if (below(2) == 0)
      how_.sigma = one_of({0.0, 0.3, 1.2, 4.0, 30.0, 127.0, -0.7, -6.0});
    if (below(3) == 0)
      how_.sigma_y = one_of({0.0, 0.0, 0.5, 9.0});
    if (below(3) == 0)
      how_.kernel_size = one_of({0, 0, 0, 1, 3, 9, 33, 1023, 8});
    if (below(3) == 0)
      how_.kernel_size_y = one_of({0, 0, 0, 1, 5, 21, 2});
    if (below(2) == 0)
      how_.edge = one_of(all_edges);
    if (below(2) == 0)
      how_.color = static_cast<std::uint32_t>(any_number());
    if (below(3) == 0)
      how_.blur_alpha = below(2) == 0;
    if (below(3) == 0)
      how_.fine = below(2) == 0;
    apply(filter(), how_);
  }

  void mend() override {
    how_.kernel_size = how_.kernel_size_y = 0;
    apply(filter(), how_);
  }

  Blur how_;
};

}  // namespace

GST_START_TEST(fuzz_operations) {
  fuzz::run_episodes(
      [](unsigned seed, int& alive) { return std::make_unique<BlurEpisode>(seed, alive); });
}
GST_END_TEST

static Suite* fuzz_gaussblur_suite() {
  Suite* suite = suite_create("cudagaussblur fuzz");
  TCase* tc = tcase_create("operations");
  suite_add_tcase(suite, tc);
  tcase_set_timeout(tc, fuzz::time_limit());
  tcase_add_test(tc, fuzz_operations);
  return suite;
}

GST_CHECK_MAIN(fuzz_gaussblur)
