// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/gaussblur/gaussblur.h"
#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using Ranges = cudavision::gaussblur::Parameters::Ranges;

class BlurEpisode final : public fuzz::Episode {
 public:
  BlurEpisode(unsigned seed, BufferCount& buffers) : Episode("cudagaussblur", seed, buffers) {}

 private:
  bool possible(const FormatSpec&) const override {
    const auto even = [](int size) { return size != 0 && size % 2 == 0; };
    return !even(how_.kernel_size) && !even(how_.kernel_size_y);
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind& kind) const override {
    Blur how = how_;
    how.limited = kind.limited;
    how.fields = kind.interlaced;
    return in_regions(
        picture, [&](const Picture& part) { return blurred(part, how); },
        difference(blurred(picture, how), picture).empty());
  }

  void change_properties() override {
    redraw(how_.sigma, {0.0, 0.3, 1.2, 4.0, 30.0, Ranges::sigma.max, -0.7, -6.0});
    redraw(how_.sigma_y, {0.0, 0.0, 0.5, 9.0}, 3);
    redraw(how_.kernel_size, {0, 0, 0, 1, 3, 9, 33, Ranges::size.max, 8}, 3);
    redraw(how_.kernel_size_y, {0, 0, 0, 1, 5, 21, 2}, 3);
    if (below(2) == 0)
      how_.edge = one_of(all_edges);
    if (below(2) == 0)
      how_.color = static_cast<std::uint32_t>(any_number());
    redraw(how_.blur_alpha, {false, true}, 3);
    redraw(how_.fine, {false, true}, 3);
    filter().set(how_.properties());
  }

  void mend() override {
    how_.kernel_size = how_.kernel_size_y = 0;
    filter().set(how_.properties());
  }

  Blur how_;
};

}  // namespace

TEST(fuzz_gaussblur) {
  fuzz::run_episodes<BlurEpisode>();
}
