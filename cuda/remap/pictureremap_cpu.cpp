// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CPU backend of PictureRemap.

#include <algorithm>
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/remap/pictureremap_backend.h"

namespace cudavision::remap {
namespace {

/// One channel of a picture. Words may have any alignment.
template <class Sample>
class SourceChannel {
 public:
  SourceChannel(const View<const std::uint8_t>& rows, const ChannelGroup& group, int number,
                const SampleCoding& coding, int width, int height)
      : data_(rows.data + std::ptrdiff_t{group.offset[number]} * sample_bytes),
        pitch_(rows.pitch),
        step_(std::ptrdiff_t{group.step} * sample_bytes),
        shift_(coding.shift),
        largest_(coding.largest()),
        border_(group.border[number]),
        width_(width),
        height_(height) {}

  int sample(const Place& place) const {
    const int x = place.column(), y = place.row();
    if (static_cast<unsigned>(x) < static_cast<unsigned>(width_ - 1) &&
        static_cast<unsigned>(y) < static_cast<unsigned>(height_ - 1)) {
      const std::uint8_t* const top = data_ + pitch_ * y + step_ * x;
      return blend(place, load(top), load(top + step_), load(top + pitch_),
                   load(top + pitch_ + step_));
    }
    return blend(place, anywhere(x, y), anywhere(x + 1, y), anywhere(x, y + 1),
                 anywhere(x + 1, y + 1));
  }

 private:
  static constexpr int sample_bytes = sizeof(Sample);

  int load(const std::uint8_t* from) const {
    Sample word;
    std::memcpy(&word, from, sizeof word);
    // Bytes need neither a shift nor a limit.
    return sample_bytes == 1 ? word : std::min(word >> shift_, largest_);
  }

  int anywhere(int x, int y) const {
    const bool exists = x >= 0 && x < width_ && y >= 0 && y < height_;
    return exists ? load(data_ + pitch_ * y + step_ * x) : border_;
  }

  const std::uint8_t* data_;
  std::ptrdiff_t pitch_, step_;
  int shift_, largest_, border_;
  int width_, height_;
};

class PictureRemapCpu final : public PictureRemap::Backend {
 public:
  explicit PictureRemapCpu(const SampleCoding& coding) : coding_(coding) {}

  void run(const std::vector<ChannelGroup>& groups, const std::vector<int>& padded_planes,
           const ConstFrame& in, const Frame& out) override {
    for (const int plane : padded_planes)
      for_rows(out.planes[plane].height, [&](int y) {
        std::memset(out.planes[plane].row(y), 0xff,
                    static_cast<std::size_t>(out.planes[plane].width));
      });
    for (const ChannelGroup& group : groups) {
      if (coding_.bits == 8)
        run_as<std::uint8_t>(group, in.planes[group.plane], out.planes[group.plane]);
      else
        run_as<std::uint16_t>(group, in.planes[group.plane], out.planes[group.plane]);
    }
  }

 private:
  template <class Sample>
  void run_as(const ChannelGroup& group, View<const std::uint8_t> in,
              View<std::uint8_t> out) const {
    if (group.map->wide())
      run_with<Sample, std::uint64_t>(group, *group.map, in, out);
    else
      run_with<Sample, std::uint32_t>(group, *group.map, in, out);
  }

  template <class Sample, class Offset>
  void run_with(const ChannelGroup& group, const PackedMap& map, View<const std::uint8_t> in,
                View<std::uint8_t> out) const {
    for_rows(map.height(), [&](int y) {
      for (int c = 0; c < group.count; ++c)
        write_row<Sample, Offset>({in, group, c, coding_, map.width(), map.height()}, map, y,
                                  group.step, out.row(y) + sizeof(Sample) * group.offset[c]);
    });
  }

  template <class Sample, class Offset>
  void write_row(const SourceChannel<Sample>& channel, const PackedMap& map, int y, int step,
                 std::uint8_t* out) const {
    const std::ptrdiff_t first = std::ptrdiff_t{map.segments_per_row()} * y;
    const Segment* const segments = map.segments() + first;
    const Offset* const offsets =
        static_cast<const Offset*>(map.offsets()) + segment_pixels * first;
    for (int x = 0; x < map.width(); ++x) {
      const int value = channel.sample(place_at(segments[x / segment_pixels], offsets[x]));
      const auto word = static_cast<Sample>(value << coding_.shift);
      std::memcpy(out + std::ptrdiff_t{step} * x * static_cast<int>(sizeof word), &word,
                  sizeof word);
    }
  }

  SampleCoding coding_;
};

}  // namespace

std::unique_ptr<PictureRemap::Backend> make_picture_remap_cpu(Device&, const SampleCoding& coding) {
  return std::make_unique<PictureRemapCpu>(coding);
}

}  // namespace cudavision::remap
