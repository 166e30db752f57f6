// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

Equalization first_equalization(unsigned seed) {
  Equalization how;
  how.tiles_x = 1 + static_cast<int>(seed % 4);
  how.tiles_y = 1 + static_cast<int>(seed / 4 % 3);
  return how;
}

/// With a threshold of 0, every changed histogram is a scene cut, so smoothing changes no output.
Properties first_properties(unsigned seed) {
  Properties properties = first_equalization(seed).tile_properties();
  properties.emplace_back("scene-cut-threshold", "0");
  return properties;
}

class EqualizeEpisode final : public fuzz::Episode {
 public:
  EqualizeEpisode(unsigned seed, BufferCount& buffers)
      : Episode("cudahistequalize", seed, buffers, first_properties(seed)),
        how_(first_equalization(seed)) {}

 private:
  bool possible(const FormatSpec& format) const override {
    return !how_.each_channel || format.has_single_colors();
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind& kind) const override {
    Equalization how = how_;
    how.limited = kind.limited && picture.format->family != Family::rgb;
    const bool by_regions = counts_regions_ && regions().count > 0 && !how.adaptive;
    const auto process = [&](const Picture& part) {
      return by_regions ? equalized_by_regions(part, how, regions()) : equalized(part, how);
    };
    return in_regions(picture, process, how.strength == 0, true);
  }

  /// Skips frames with several smoothed histograms, because scene cuts compare only their sum.
  void judge(GstBuffer* out, const Picture& picture, const fuzz::FrameKind& kind) override {
    if (!smooths_ || !(how_.adaptive || how_.each_channel))
      Episode::judge(out, picture, kind);
  }

  void change_properties() override {
    redraw(how_.strength, {0.0, 0.25, 0.5, 1.0});
    redraw(how_.each_channel, {false, true});
    redraw(how_.scales_chroma, {false, true});
    redraw(how_.adaptive, {false, true});
    redraw(how_.clip_limit, {0.0, 0.5, 2.0, 40.0, 65536.0});
    filter().set(how_.properties());
    if (below(3) == 0) {
      const guint64 time = below(2) == 0 ? any_number() : one_of({0u, 1u, 1000000000u});
      smooths_ = time > 0;
      filter().set("smoothing-time", std::to_string(time));
    }
    if (below(3) == 0)
      filter().set("post-messages", below(2) == 0 ? "true" : "false");
    if (below(3) == 0)
      filter().set("message-interval", std::to_string(any_number()));
    if (below(3) == 0) {
      counts_regions_ = below(2) == 0;
      filter().set("statistics-region", counts_regions_ ? "regions" : "frame");
    }
  }

  void mend() override {
    how_.each_channel = false;
    filter().set(how_.properties());
  }

  Equalization how_;
  bool counts_regions_ = false;
  bool smooths_ = false;
};

}  // namespace

TEST(fuzz_histequalize) {
  fuzz::run_episodes<EqualizeEpisode>();
}
