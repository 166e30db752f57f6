// SPDX-License-Identifier: LGPL-2.1-or-later
// Fuzzes cudaintegral; see life.h and episode.h.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/guided/guided.h"
#include "cuda/localstatistics/localstatistics.h"
#include "cuda/nlmeans/nlmeans.h"
#include "tests/check/common/pictures/nativepicture.h"
#include "tests/check/common/pictures/tensors.h"
#include "tests/check/integral/film.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using StatisticsRanges = cudavision::localstatistics::Parameters::Ranges;
using GuidedRanges = cudavision::guided::Parameters::Ranges;
using DenoisingRanges = cudavision::nlmeans::Parameters::Ranges;

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
    return form_.output != Output::denoise ||
           (how_.search % 2 == 1 && how_.patch % 2 == 1 && frames_ % 2 == 1);
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind&) const override {
    const Integral how = in_force();
    if (how.output == Output::guided)
      return in_regions(
          picture, [&](const Picture& part) { return guided(part, how); },
          how.radius == 0 || how.epsilon == 0);
    const std::vector<Picture> others = neighbours();
    return in_regions(
        picture, [&](const Picture& part) { return denoised(part, how, others); },
        denoises_nothing(*picture.format) || (how.search == 1 && frames_ == 1));
  }

  bool denoises_nothing(const FormatSpec& format) const {
    const double chroma = how_.chroma_strength < 0 ? how_.strength : how_.chroma_strength;
    return how_.strength == 0 && (format.family != Family::yuv || chroma == 0);
  }

  /// Returns the first and the last of the frames that are searched around the judged one.
  std::pair<std::size_t, std::size_t> searched() const {
    const std::size_t reach = static_cast<std::size_t>(frames_ / 2), at = sequence().judged;
    return {at - std::min(at, reach), std::min(at + reach, sequence().frames.size() - 1)};
  }

  bool knows_neighbours() const {
    const auto [first, last] = searched();
    const auto& frames = sequence().frames;
    return std::all_of(frames.begin() + static_cast<std::ptrdiff_t>(first),
                       frames.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                       [](const Picture* picture) { return picture != nullptr; });
  }

  /// Returns the neighbours of the judged frame in its scene.
  std::vector<Picture> neighbours() const {
    const auto& frames = sequence().frames;
    const std::size_t at = sequence().judged;
    auto [first, last] = searched();
    for (std::size_t i = at; i > first; --i)
      if (begins_scene(*frames[i - 1], *frames[i]))
        first = i;
    for (std::size_t i = last; i > at; --i)
      if (begins_scene(*frames[i - 1], *frames[i]))
        last = i - 1;
    std::vector<Picture> others;
    for (std::size_t i = first; i <= last; ++i)
      if (i != at)
        others.push_back(native(*frames[i]));
    return others;
  }

  void judge(GstBuffer* out, const Picture& picture, const fuzz::FrameKind& kind) override {
    Integral how = in_force();
    how.limited = kind.limited;
    if (keeps_format(how.output)) {
      if (how.output == Output::guided || knows_neighbours())
        Episode::judge(out, picture, kind);
      return;
    }
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
      filter().set("post-messages", below(2) == 0 ? "true" : "false");
    if (below(3) == 0)
      filter().set("message-interval", std::to_string(any_number()));
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
    if (below(2) == 0)
      frames_ = one_of({1, 1, 3, 3, 5, 9, 4});
    if (below(3) == 0)
      how_.search = one_of({1, 3, 5, 7, 4});
    if (frames_ > 1)
      how_.search = std::min(how_.search, 3);
    if (below(3) == 0)
      how_.patch = one_of({1, 3, 5, 2});
    if (below(2) == 0)
      how_.strength = one_of({0.0, 0.3, 10.0, 60.0, DenoisingRanges::strength.max});
    if (below(2) == 0)
      how_.chroma_strength = one_of({-1.0, -1.0, 0.0, 5.0, DenoisingRanges::strength.max});
    if (below(2) == 0)
      how_.epsilon = one_of({0.0, 0.01, 100.0, 650.25, GuidedRanges::epsilon.max});
    set_properties();
    if (keeps_format(form_.output) && below(2) == 0)
      change_regions();
  }

  void restarted() override { form_ = how_; }

  void mend() override {
    how_.search = 5;
    how_.patch = 3;
    frames_ = 1;
    set_properties();
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

  void set_properties() {
    filter().set(how_.properties());
    filter().set("denoise-frames", std::to_string(frames_));
  }

  /// Where several frames are searched, most differ little from the one before.
  Picture new_picture(const FormatSpec& format, int width, int height) override {
    const bool continues = frames_ > 1 && last_ && last_->format == &format &&
                           last_->width == width && last_->height == height && below(4) > 0;
    if (!continues)
      return last_.emplace(Episode::new_picture(format, width, height));
    for (int i = below(1 + width * height / 8); i > 0; --i)
      last_->set_sample(0, below(width), below(height), below(format.peak() + 1));
    return *last_;
  }

  Integral how_;
  Integral form_;
  int frames_ = 1;
  std::optional<Picture> last_;
};

}  // namespace

TEST(fuzz_integral) {
  fuzz::run_episodes<IntegralEpisode>();
}
