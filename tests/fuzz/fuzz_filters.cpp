// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzzes the elements with one input; see life.h and episode.h.
#include "cuda/gaussblur/gaussblur.h"
#include "cuda/localstatistics/localstatistics.h"
#include "cuda/nlmeans/nlmeans.h"
#include "tests/check/common/definitions/blurdefinition.h"
#include "tests/check/common/definitions/equalizedefinition.h"
#include "tests/check/common/pictures/tensors.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using BlurRanges = cudavision::gaussblur::Parameters::Ranges;
using StatisticsRanges = cudavision::localstatistics::Parameters::Ranges;
using DenoisingRanges = cudavision::nlmeans::Parameters::Ranges;

/// Returns settings with few tiles, because the definition is slow where many have 65536 bins.
Equalization first_equalization(unsigned seed) {
  Equalization how;
  how.tiles_x = 1 + static_cast<int>(seed % 4);
  how.tiles_y = 1 + static_cast<int>(seed / 4 % 3);
  return how;
}

/// With this threshold, every frame with another histogram is a scene cut, so that smoothed frames
/// look like those that are not.
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

  /// Where tiles or colours have histograms of their own, a frame is no scene cut if the sum of its
  /// histograms is that of the frame before.
  void judge(GstBuffer* out, const Picture& picture, const fuzz::FrameKind& kind) override {
    if (!smooths_ || !(how_.adaptive || how_.each_channel))
      Episode::judge(out, picture, kind);
  }

  void change_properties() override {
    if (below(2) == 0)
      how_.strength = one_of({0.0, 0.25, 0.5, 1.0});
    if (below(2) == 0)
      how_.each_channel = below(2) == 0;
    if (below(2) == 0)
      how_.adaptive = below(2) == 0;
    if (below(2) == 0)
      how_.clip_limit = one_of({0.0, 0.5, 2.0, 40.0, 65536.0});
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
    if (below(2) == 0)
      change_regions();
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
    if (below(2) == 0)
      how_.sigma = one_of({0.0, 0.3, 1.2, 4.0, 30.0, BlurRanges::sigma.max, -0.7, -6.0});
    if (below(3) == 0)
      how_.sigma_y = one_of({0.0, 0.0, 0.5, 9.0});
    if (below(3) == 0)
      how_.kernel_size = one_of({0, 0, 0, 1, 3, 9, 33, BlurRanges::size.max, 8});
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
    if (below(3) == 0)
      how_.method = one_of({Method::gaussian, Method::mosaic, Method::solid});
    if (below(3) == 0)
      how_.block_size = one_of({2, 3, 16, 17, 64, 256});
    if (below(3) == 0)
      how_.solid_color = static_cast<std::uint32_t>(any_number());
    filter().set(how_.properties());
    if (below(2) == 0)
      change_regions();
  }

  void mend() override {
    how_.kernel_size = how_.kernel_size_y = 0;
    filter().set(how_.properties());
  }

  Blur how_;
};

/// Goes through all outputs, layouts and types with successive seeds.
Integral first_form(unsigned seed) {
  Integral how;
  how.output = all_outputs[seed % std::size(all_outputs)];
  how.same_size = seed / std::size(all_outputs) % 2 == 1;
  how.type = all_element_types[seed % std::size(all_element_types)];
  how.search = 5;  // the definition is slow
  how.patch = 3;
  return how;
}

class IntegralEpisode final : public fuzz::Episode {
 public:
  IntegralEpisode(unsigned seed, BufferCount& buffers)
      : Episode("cudaintegral", seed, buffers, first_form(seed).properties()),
        how_(first_form(seed)),
        form_(how_) {}

 private:
  /// Returns the settings in effect: output, layout and type are those of the last start, and all
  /// others are the current ones.
  Integral in_force() const {
    Integral how = how_;
    how.output = form_.output;
    how.same_size = form_.same_size;
    how.type = form_.type;
    return how;
  }

  bool possible(const FormatSpec&) const override {
    return form_.output != Output::denoise || (how_.search % 2 == 1 && how_.patch % 2 == 1);
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind&) const override {
    const Integral how = in_force();
    return in_regions(
        picture, [&](const Picture& part) { return denoised(part, how); },
        how.strength == 0 || how.search == 1);
  }

  void judge(GstBuffer* out, const Picture& picture, const fuzz::FrameKind& kind) override {
    const Integral how = in_force();
    if (how.output == Output::denoise)
      return Episode::judge(out, picture, kind);
    const Owned<GstCaps> caps = current_caps(filter().sink_pad());
    const GstStructure* structure = gst_caps_get_structure(caps, 0);
    if (gst_structure_has_name(structure, "other/tensors")) {
      expect_tensor(out, caps, tensor_of(picture, how), how.description());
    } else {
      const FormatSpec& gray = format_named(gst_structure_get_string(structure, "format"));
      const Picture right = gray_picture_of(picture, how, gray);
      expect_picture(from_buffer(out, gray, right.width, right.height), right, how.description());
    }
  }

  void change_properties() override {
    if (below(3) == 0)
      how_.output = one_of(all_outputs);
    if (below(3) == 0)
      how_.same_size = below(2) == 0;
    if (below(3) == 0)
      how_.type = one_of(all_element_types);
    if (below(2) == 0)
      how_.radius = one_of({0, 1, 2, 7, 30, 1000, StatisticsRanges::radius.max});
    if (below(2) == 0)
      how_.sauvola = below(2) == 0;
    if (below(2) == 0)
      how_.ratio = one_of({0.0, 0.05, 0.15, 0.5, 1.0});
    if (below(2) == 0)
      how_.k = one_of({0.0, 0.05, 0.2, 1.0});
    if (below(2) == 0)
      how_.range = one_of({0.0, 0.5, 64.0, StatisticsRanges::range.max});
    if (below(3) == 0)
      how_.search = one_of({1, 3, 5, 7, 4});
    if (below(3) == 0)
      how_.patch = one_of({1, 3, 5, 2});
    if (below(2) == 0)
      how_.strength = one_of({0.0, 0.3, 10.0, 60.0, DenoisingRanges::strength.max});
    filter().set(how_.properties());
    if (form_.output == Output::denoise && below(2) == 0)
      change_regions();
  }

  void restarted() override { form_ = how_; }

  void mend() override {
    how_.search = 5;
    how_.patch = 3;
    filter().set(how_.properties());
    clear_regions();  // the new output may not support them
    // Downstream may accept only tables, but the output may no longer be one.
    filter().accept_downstream("ANY");
  }

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

TEST(fuzz_histequalize) {
  fuzz::run_episodes<EqualizeEpisode>();
}

TEST(fuzz_gaussblur) {
  fuzz::run_episodes<BlurEpisode>();
}

TEST(fuzz_integral) {
  fuzz::run_episodes<IntegralEpisode>();
}
