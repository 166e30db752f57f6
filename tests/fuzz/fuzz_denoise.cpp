// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/nlmeans/nlmeans.h"
#include "tests/check/common/pictures/nativepicture.h"
#include "tests/check/denoise/film.h"
#include "tests/fuzz/episode.h"

using namespace check;

namespace {

using Ranges = cudavision::nlmeans::Parameters::Ranges;

class DenoiseEpisode final : public fuzz::Episode {
 public:
  // The definition is slow with larger searches.
  DenoiseEpisode(unsigned seed, BufferCount& buffers)
      : Episode("cudadenoise", seed, buffers, denoising().properties()) {}

 private:
  bool possible(const FormatSpec&) const override {
    return how_.search % 2 == 1 && how_.patch % 2 == 1 && frames_ % 2 == 1;
  }

  Picture expected(const Picture& picture, const fuzz::FrameKind&) const override {
    const std::vector<Picture> others = neighbours();
    return in_regions(
        picture, [&](const Picture& part) { return denoised(part, how_, others); },
        denoises_nothing(*picture.format) || (how_.search == 1 && frames_ == 1));
  }

  bool denoises_nothing(const FormatSpec& format) const {
    const double chroma = how_.chroma_strength < 0 ? how_.strength : how_.chroma_strength;
    return how_.strength == 0 && (format.family != Family::yuv || chroma == 0);
  }

  /// Returns the indices of the first and last frame that may be searched for the judged frame.
  std::pair<std::size_t, std::size_t> searched() const {
    const std::size_t each_side = static_cast<std::size_t>(frames_ / 2), at = sequence().judged;
    return {at - std::min(at, each_side), std::min(at + each_side, sequence().frames.size() - 1)};
  }

  bool knows_neighbours() const {
    const auto [first, last] = searched();
    const auto& frames = sequence().frames;
    return std::all_of(frames.begin() + static_cast<std::ptrdiff_t>(first),
                       frames.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                       [](const Picture* picture) { return picture != nullptr; });
  }

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
    if (knows_neighbours())
      Episode::judge(out, picture, kind);
  }

  void change_properties() override {
    if (below(3) == 0)
      filter().set("post-messages", below(2) == 0 ? "true" : "false");
    if (below(3) == 0)
      filter().set("message-interval", std::to_string(any_number()));
    redraw(frames_, {1, 1, 3, 3, 5, 9, 4});
    redraw(how_.search, {1, 3, 5, 7, 4}, 3);
    if (frames_ > 1)
      how_.search = std::min(how_.search, 3);
    redraw(how_.patch, {1, 3, 5, 2}, 3);
    redraw(how_.strength, {0.0, 0.3, 10.0, 60.0, Ranges::strength.max});
    redraw(how_.chroma_strength, {-1.0, -1.0, 0.0, 5.0, Ranges::strength.max});
    set_properties();
  }

  void mend() override {
    how_.search = 5;
    how_.patch = 3;
    frames_ = 1;
    set_properties();
  }

  void set_properties() {
    filter().set(how_.properties());
    filter().set("frames", std::to_string(frames_));
  }

  Picture new_picture(const FormatSpec& format, int width, int height) override {
    const bool continues = frames_ > 1 && last_ && last_->format == &format &&
                           last_->width == width && last_->height == height && below(4) > 0;
    if (!continues)
      return last_.emplace(Episode::new_picture(format, width, height));
    for (int i = below(1 + width * height / 8); i > 0; --i)
      last_->set_sample(0, below(width), below(height), below(format.peak() + 1));
    return *last_;
  }

  Denoising how_ = denoising();
  int frames_ = 1;
  std::optional<Picture> last_;
};

}  // namespace

TEST(fuzz_denoise) {
  fuzz::run_episodes<DenoiseEpisode>();
}
