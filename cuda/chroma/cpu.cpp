// SPDX-License-Identifier: LGPL-2.1-or-later

#include "cuda/chroma/arithmetic.h"
#include "cuda/chroma/backend.h"
#include "cuda/core/parallel.h"
#include "cuda/pixels/sample_math.h"
#include "cuda/pixels/samples.h"

namespace cudavision::chroma {
namespace {

/// The rows of one channel. A sample has one or two bytes.
template <class Byte>
struct ChannelRows {
  View<Byte> plane;
  int offset = 0, step = 0;  ///< in bytes

  ChannelRows(const FrameLayout& layout, const BasicFrame<Byte>& frame, const Channel& channel)
      : plane(frame.planes[channel.plane]),
        offset(channel.offset * layout.sample_bytes()),
        step(channel.step * layout.sample_bytes()) {}

  Byte* sample(int x, int y) const {
    return plane.row(y) + offset + static_cast<std::ptrdiff_t>(step) * x;
  }
};

class ChromaScaleCpu final : public ChromaScale::Backend {
 public:
  explicit ChromaScaleCpu(const FrameLayout& layout) : layout_(layout), channels_(layout) {}

  void set(const Parameters& parameters) override {
    range_ = Range(layout_.bits, parameters.limited_range);
  }

  void run(const ConstFrame& in, const Frame& out) override {
    if (layout_.bits == 8)
      run<1>(in, out);
    else
      run<2>(in, out);
  }

 private:
  template <int kBytes>
  int load(const std::uint8_t* from) const {
    if constexpr (kBytes == 1)
      return *from;
    else
      return static_cast<int>(sample_value(load16(from), layout_.shift, (1u << layout_.bits) - 1));
  }
  template <int kBytes>
  void store(std::uint8_t* to, int value) const {
    if constexpr (kBytes == 1)
      *to = static_cast<std::uint8_t>(value);
    else
      store16(to, static_cast<std::uint32_t>(value) << layout_.shift);
  }

  template <int kBytes>
  void run(const ConstFrame& in, const Frame& out) const {
    const Channel& first = channels_.chroma[0];
    const ChannelRows<const std::uint8_t> luma(layout_, in, channels_.luma);
    const ChannelRows<std::uint8_t> new_luma(layout_, out, channels_.luma);
    const ChannelRows<const std::uint8_t> from[] = {{layout_, in, channels_.chroma[0]},
                                                    {layout_, in, channels_.chroma[1]}};
    const ChannelRows<std::uint8_t> to[] = {{layout_, out, channels_.chroma[0]},
                                            {layout_, out, channels_.chroma[1]}};
    for_rows(first.height, [&](int y) {
      for (int x = 0; x < first.width; ++x) {
        const int luma_x = x * first.subsampling_x, luma_y = y * first.subsampling_y;
        const int r = growth(load<kBytes>(luma.sample(luma_x, luma_y)),
                             load<kBytes>(new_luma.sample(luma_x, luma_y)), range_);
        for (int c = 0; c < 2; ++c)
          store<kBytes>(to[c].sample(x, y), scaled(load<kBytes>(from[c].sample(x, y)), r, range_));
      }
    });
  }

  FrameLayout layout_;
  Channels channels_;
  Range range_;
};

}  // namespace

std::unique_ptr<ChromaScale::Backend> make_chroma_scale_cpu(Device&, const FrameLayout& layout) {
  return std::make_unique<ChromaScaleCpu>(layout);
}

}  // namespace cudavision::chroma
