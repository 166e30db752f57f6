// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/mosaic/mosaic.h"
#include "tests/check/common/definitions/pixelatedefinition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using Ranges = cudavision::mosaic::Parameters::Ranges;

class PixelateEpisode final : public fuzz::Episode {
 public:
  PixelateEpisode(unsigned seed, BufferCount& buffers) : Episode("cudapixelate", seed, buffers) {}

 private:
  bool possible(const FormatSpec&) const override {
    return Ranges::block_size.contains(how_.block_size);
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind& kind) const override {
    Pixelation how = how_;
    how.limited = kind.limited;
    how.fields = kind.interlaced;
    return in_regions(
        picture, [&](const Picture& part) { return pixelated(part, how); }, false);
  }

  void change_properties() override {
    redraw(how_.solid, {false, true}, 3);
    redraw(how_.block_size, {2, 3, 16, 17, 64, Ranges::block_size.max, 1});
    if (below(3) == 0)
      how_.color = static_cast<std::uint32_t>(any_number());
    redraw(how_.hide_alpha, {false, true}, 3);
    filter().set(how_.properties());
  }

  void mend() override {
    how_.block_size = 16;
    filter().set(how_.properties());
  }

  Pixelation how_;
};

}  // namespace

TEST(fuzz_pixelate) {
  fuzz::run_episodes<PixelateEpisode>();
}
