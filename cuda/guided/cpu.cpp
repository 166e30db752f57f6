// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The guided filter on the CPU. Each channel takes two passes: the first pass converts each window
// to a word, and the second pass sums the words of each window.

#include "cuda/windows/cpu.h"

#include <algorithm>
#include <cstring>

#include "cuda/guided/arithmetic.h"
#include "cuda/guided/backend.h"
#include "cuda/pixels/samples.h"

namespace cudavision::guided {
namespace {

// Branch-free loops, for vectorisation. All windows of a call have equal areas.

template <bool kNarrow, class Sum>
CUDAVISION_TARGET_CLONES void write_words(int count, windows::WindowEnds<Sum, Sum> sums,
                                          LineWindow<kNarrow, Sum> window,
                                          std::uint32_t* __restrict words) {
  for (int x = 0; x < count; ++x)
    words[x] = window.word_of(sums.first(x), sums.second(x));
}

template <bool kNarrow, class Sample, class Sum>
CUDAVISION_TARGET_CLONES void write_levels(int count, windows::WindowEnds<Sum, Sum> sums,
                                           LevelWindow<kNarrow> window, int bits,
                                           const Sample* samples, Sample* __restrict levels) {
  for (int x = 0; x < count; ++x)
    levels[x] = static_cast<Sample>(window.level_of(std::uint32_t{samples[x]} << (32 - bits),
                                                    sums.first(x), Sum{0} - sums.second(x)));
}

template <class Element, class Sum, class AnyWindow>
class GuidedRows {
  using Rows = windows::WindowRows<Element, Sum, Sum>;

 public:
  GuidedRows(Scratch& scratch, int width)
      : rows_(scratch, width, true), windows_(scratch.take<AnyWindow>(width + 1)) {}

  const Rows& rows() const { return rows_; }

  /// row(y, buffer) returns the elements of a row. write(y, begin, end, ends, window) receives the
  /// windows of samples begin to end − 1, which have equal areas.
  template <class Row, class Write>
  void run(const RowRange& range, const Channel& channel, const WindowRadius& radius,
           const Scale& scale, const Row& row, const Write& write) const {
    const int width = channel.width;
    int measured = 0;  // height of the windows in windows_
    rows_.run(range.begin, range.end, channel.height, radius.x, radius.y, row,
              [&](int y, int rows, const typename Rows::Ends& ends) {
                if (measured != rows)
                  for (int w = std::min(radius.x + 1, width);
                       w <= std::min(2 * radius.x + 1, width); ++w)
                    windows_[w] = AnyWindow(static_cast<std::uint32_t>(w) * rows, scale);
                measured = rows;
                const auto write_from = [&](int begin, int end) {
                  const int columns =
                      std::min(begin + radius.x + 1, width) - std::max(begin - radius.x, 0);
                  write(y, begin, end, ends.from(begin), windows_[columns]);
                };
                const int whole_begin = std::min(radius.x, width);
                const int whole_end = std::max(width - radius.x, whole_begin);
                for (int x = 0; x < whole_begin; ++x)
                  write_from(x, x + 1);
                if (whole_begin < whole_end)
                  write_from(whole_begin, whole_end);
                for (int x = whole_end; x < width; ++x)
                  write_from(x, x + 1);
              });
  }

 private:
  Rows rows_;
  AnyWindow* windows_;  // indexed by width
};

/// The largest element type of windows_, for the size of the scratch memory.
using LargestWindow = LineWindow<true, std::uint64_t>;

class GuidedCpu final : public Guided::Backend {
 public:
  GuidedCpu(Device& device, const FrameLayout& layout)
      : layout_(layout),
        channels_(filtered_channels(layout)),
        bands_(
            device, layout.height,
            scratch_bytes<GuidedRows<std::uint32_t, std::uint64_t, LargestWindow>>(layout.width)) {
    std::size_t max_samples = 1;
    for (const Channel& channel : channels_)
      max_samples = std::max(max_samples, static_cast<std::size_t>(channel.width) * channel.height);
    words_ = device.allocate(sizeof(std::uint32_t) * max_samples);
  }

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    scale_ = Scale(parameters.epsilon, layout_.bits);
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    for (const Channel& channel : channels_) {
      const WindowRadius radius(channel, parameters_.radius);
      const RowRange rows = rows_with_results(channel, active);
      if (layout_.bits == 8) {
        if (radius.is_narrow(channel))
          filter<std::uint8_t, std::uint32_t, true>(channel, radius, rows, in, out);
        else
          filter<std::uint8_t, std::uint64_t, false>(channel, radius, rows, in, out);
      } else {
        if (radius.is_narrow(channel))
          filter<std::uint16_t, std::uint64_t, true>(channel, radius, rows, in, out);
        else
          filter<std::uint16_t, std::uint64_t, false>(channel, radius, rows, in, out);
      }
    }
  }

 private:
  /// Sum is the type for sums of samples and of squares.
  template <class Sample, class Sum, bool kNarrow>
  void filter(const Channel& channel, const WindowRadius& radius, const RowRange& rows,
              const ConstFrame& in, const Frame& out) const {
    using WordSum = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
    const int bits = layout_.bits;
    const auto words_of = [&](int y) {
      return words_.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(channel.width) * y;
    };
    const Samples samples(layout_, channel);
    const auto samples_of = [&](int y, Sample* buffer) { return samples.row(in, y, buffer); };
    const RowRange windows = rows_with_windows(channel, radius.y, rows);
    const auto share_of = [](const Band& band, const RowRange& all) -> RowRange {
      const Band share = band.of(all.end - all.begin);
      return {all.begin + share.begin, all.begin + share.end};
    };
    bands_.for_each([&](Band& band) {
      using Window = LineWindow<kNarrow, Sum>;
      GuidedRows<Sample, Sum, Window>(band.scratch, channel.width)
          .run(share_of(band, windows), channel, radius, scale_, samples_of,
               [&](int y, int from, int to, const auto& ends, const Window& window) {
                 write_words(to - from, ends, window, words_of(y) + from);
               });
    });
    bands_.for_each([&](Band& band) {
      using Window = LevelWindow<kNarrow>;
      const GuidedRows<std::uint32_t, WordSum, Window> lines(band.scratch, channel.width);
      // Words are read in place, so these buffers are free for samples.
      auto* const values = reinterpret_cast<Sample*>(lines.rows().added());
      auto* const levels = reinterpret_cast<Sample*>(lines.rows().removed());
      const Sample* row = nullptr;
      lines.run(
          share_of(band, rows), channel, radius, scale_,
          [&](int y, std::uint32_t*) { return words_of(y); },
          [&](int y, int from, int to, const auto& ends, const Window& window) {
            if (from == 0)
              row = samples_of(y, values);
            write_levels(to - from, ends, window, bits, row + from, levels + from);
            if (to == channel.width)
              store(channel, levels, out.planes[channel.plane].row(y));
          });
    });
  }

  template <class Sample>
  void store(const Channel& channel, const Sample* levels, std::uint8_t* row) const {
    for (int x = 0; x < channel.width; ++x) {
      const auto word = static_cast<Sample>(levels[x] << layout_.shift);
      const std::ptrdiff_t index = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
      std::memcpy(row + index * static_cast<std::ptrdiff_t>(sizeof word), &word, sizeof word);
    }
  }

  FrameLayout layout_;
  std::vector<Channel> channels_;
  Bands bands_;
  Buffer words_;
  Parameters parameters_;
  Scale scale_;
};

}  // namespace

std::unique_ptr<Guided::Backend> make_guided_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<GuidedCpu>(device, layout);
}

}  // namespace cudavision::guided
