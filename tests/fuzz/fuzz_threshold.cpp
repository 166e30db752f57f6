// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/localstatistics/localstatistics.h"
#include "tests/check/common/definitions/thresholddefinition.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using Ranges = cudavision::localstatistics::Parameters::Ranges;

class ThresholdEpisode final : public fuzz::Episode {
 public:
  ThresholdEpisode(unsigned seed, BufferCount& buffers) : Episode("cudathreshold", seed, buffers) {}

 private:
  void judge(GstBuffer* out, const Picture& picture, const fuzz::FrameKind& kind) override {
    Threshold how = how_;
    how.limited = kind.limited;
    const Owned<GstCaps> caps = current_caps(filter().sink_pad());
    const FormatSpec& gray =
        format_named(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"));
    expect_picture(from_buffer(out, gray, picture.width, picture.height),
                   thresholded(picture, how, gray), how.description());
  }

  void change_properties() override {
    redraw(how_.radius, {0, 1, 2, 7, 30, 1000, Ranges::radius.max});
    redraw(how_.sauvola, {false, true});
    redraw(how_.ratio, {0.0, 0.05, 0.15, 0.5, 1.0});
    redraw(how_.k, {0.0, 0.05, 0.2, 1.0});
    redraw(how_.range, {0.0, 0.5, 64.0, Ranges::range.max});
    redraw(how_.invert, {false, true});
    redraw(how_.speckle_size, {0, 1, 5, 60, 1000000});
    filter().set(how_.properties());
  }

  const char* open_downstream() override {
    return one_of({"ANY", "video/x-raw", "video/x-raw, format=GRAY16_LE"});
  }

  Threshold how_;
};

}  // namespace

TEST(fuzz_threshold) {
  fuzz::run_episodes<ThresholdEpisode>();
}
