// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/guided/guided.h"
#include "tests/check/common/definitions/guideddefinition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using Ranges = cudavision::guided::Parameters::Ranges;

class GuidedEpisode final : public fuzz::Episode {
 public:
  GuidedEpisode(unsigned seed, BufferCount& buffers) : Episode("cudaguidedfilter", seed, buffers) {}

 private:
  bool possible(const FormatSpec&) const override { return Ranges::radius.contains(how_.radius); }

  Picture expected(const Picture& picture, const fuzz::FrameKind&) const override {
    return in_regions(
        picture, [&](const Picture& part) { return guided(part, how_); },
        how_.radius == 0 || how_.epsilon == 0);
  }

  void change_properties() override {
    redraw(how_.radius, {0, 1, 2, 7, 30, 1000, Ranges::radius.max, -1});
    redraw(how_.epsilon, {0.0, 0.01, 100.0, 650.25, Ranges::epsilon.max});
    filter().set(how_.properties());
  }

  void mend() override {
    how_.radius = 7;
    filter().set(how_.properties());
  }

  Guided how_;
};

}  // namespace

TEST(fuzz_guidedfilter) {
  fuzz::run_episodes<GuidedEpisode>();
}
