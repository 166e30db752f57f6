// SPDX-License-Identifier: LGPL-2.1-or-later
#include <iterator>

#include "cuda/localstatistics/localstatistics.h"
#include "tests/check/common/pictures/tensors.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using Ranges = cudavision::localstatistics::Parameters::Ranges;

/// Covers all outputs, layouts and types with successive seeds, but not all combinations.
Integral first_form(unsigned seed) {
  return {all_outputs[seed % std::size(all_outputs)], seed / std::size(all_outputs) % 2 == 1,
          all_element_types[seed % std::size(all_element_types)]};
}

class IntegralEpisode final : public fuzz::Episode {
 public:
  IntegralEpisode(unsigned seed, BufferCount& buffers)
      : Episode("cudaintegral", seed, buffers, first_form(seed).properties()),
        how_(first_form(seed)),
        form_(how_) {}

 private:
  /// Output, layout and type have the values of the last start; the radius has its current value.
  void judge(GstBuffer* out, const Picture& picture, const fuzz::FrameKind&) override {
    const Integral how{form_.output, form_.same_size, form_.type, how_.radius};
    const Owned<GstCaps> caps = current_caps(filter().sink_pad());
    const GstStructure* structure = gst_caps_get_structure(caps, 0);
    if (gst_structure_has_name(structure, "other/tensors"))
      return expect_tensor(out, caps, tensor_of(picture, how), how.description());
    const FormatSpec& gray = format_named(gst_structure_get_string(structure, "format"));
    const Picture right = gray_picture_of(picture, how, gray);
    expect_picture(from_buffer(out, gray, right.width, right.height), right, how.description());
  }

  void change_properties() override {
    if (below(3) == 0)
      how_.output = one_of(all_outputs);
    redraw(how_.same_size, {false, true}, 3);
    if (below(3) == 0)
      how_.type = one_of(all_element_types);
    redraw(how_.radius, {0, 1, 2, 7, 30, 1000, Ranges::radius.max});
    filter().set(how_.properties());
  }

  void restarted() override { form_ = how_; }

  // Makes downstream accept anything, because `output` may have changed from tables to video.
  void mend() override { filter().accept_downstream("ANY"); }

  const char* open_downstream() override {
    if (is_table(form_.output))
      return one_of({"ANY", "video/x-raw", "other/tensors", "video/x-raw; other/tensors",
                     "other/tensors(memory:CUDAMemory); other/tensors",
                     "video/x-raw, format=GRAY16_LE"});
    return one_of({"ANY", "video/x-raw"});
  }

  Integral how_;
  Integral form_;
};

}  // namespace

TEST(fuzz_integral) {
  fuzz::run_episodes<IntegralEpisode>();
}
