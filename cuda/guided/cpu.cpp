// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The guided filter on the CPU, channel by channel, in two passes: one makes a word of each window,
// and the other adds up the words of windows. In both, each band of rows keeps two sums of every
// column over the rows of a window; a window's sums are differences of their running sums.

#include <algorithm>
#include <cstring>

#include "cuda/core/parallel.h"
#include "cuda/core/runningsums.h"
#include "cuda/guided/backend.h"
#include "cuda/guided/cpu_rows.h"
#include "cuda/pixels/samples.h"

namespace cudavision::guided {
namespace {

/// The scratch memory of a band.
template <class Sum, class Element, class AnyWindow>
struct WindowMemory {
  WindowMemory(Scratch& scratch, int width)
      : zeros(scratch.take<Element>(width)),
        added(scratch.take<Element>(width)),
        removed(scratch.take<Element>(width)),
        windows(scratch.take<AnyWindow>(width + 1)) {
    for (int i = 0; i < 2; ++i) {
      columns[i] = scratch.take<Sum>(width);
      running[i] = scratch.take<Sum>(width + 1);
    }
  }

  Element *zeros, *added, *removed;  ///< elements that windows gain and lose
  AnyWindow* windows;                ///< the constants of windows, by their widths
  Sum *columns[2], *running[2];
};

struct LargestWindow {
  std::uint8_t bytes[64];
};

/// Moves windows down through the rows of a band.
template <class Sum, class Element, class AnyWindow>
class WindowRows {
  static_assert(sizeof(AnyWindow) <= sizeof(LargestWindow));
  using Memory = WindowMemory<Sum, Element, AnyWindow>;

 public:
  WindowRows(const Memory& memory, const Channel& channel, const Reach& reach, const Scale& scale)
      : memory_(memory),
        width_(channel.width),
        height_(channel.height),
        reach_(reach),
        scale_(scale) {}

  /// row(y, buffer) returns the elements of a row, and write(y, begin, end, ends, window) takes the
  /// sums of the windows of equal area of samples begin to end − 1 of a row.
  template <class Row, class Write>
  void run(int begin, int end, const Row& row, const Write& write) const {
    Sum *const first = memory_.columns[0], *const second = memory_.columns[1];
    std::fill_n(memory_.zeros, width_, Element{0});
    std::fill_n(first, width_, Sum{0});
    std::fill_n(second, width_, Sum{0});
    // The columns hold the sums of rows top to bottom − 1.
    int top = std::max(begin - reach_.y, 0), bottom = top;
    int measured = 0;  // the rows of the windows whose constants are known
    for (int y = begin; y < end; ++y) {
      const int from = std::max(y - reach_.y, 0), to = std::min(y + reach_.y + 1, height_);
      while (top < from || bottom < to) {
        const Element* const added = bottom < to ? row(bottom++, memory_.added) : memory_.zeros;
        const Element* const removed = top < from ? row(top++, memory_.removed) : memory_.zeros;
        slide(added, removed, width_, first, second);
      }
      if (measured != to - from) {
        measured = to - from;
        for (int w = min_window_width(); w <= max_window_width(); ++w)
          memory_.windows[w] = AnyWindow(static_cast<std::uint32_t>(w) * (to - from), scale_);
      }
      add_up(first, width_, memory_.running[0]);
      add_up(second, width_, memory_.running[1]);
      write_row(y, write);
    }
  }

 private:
  int min_window_width() const { return std::min(reach_.x + 1, width_); }
  int max_window_width() const { return std::min(2 * reach_.x + 1, width_); }

  template <class Write>
  void write_row(int y, const Write& write) const {
    const auto write_from = [&](int begin, int end) {
      const int left = std::max(begin - reach_.x, 0);
      const int right = std::min(begin + reach_.x + 1, width_);
      const Sum *const first = memory_.running[0], *const second = memory_.running[1];
      write(y, begin, end,
            WindowEnds<Sum>{first + left, first + right, second + left, second + right},
            memory_.windows[right - left]);
    };
    const int whole_begin = std::min(reach_.x, width_);
    const int whole_end = std::max(width_ - reach_.x, whole_begin);
    for (int x = 0; x < whole_begin; ++x)
      write_from(x, x + 1);
    if (whole_begin < whole_end)
      write_from(whole_begin, whole_end);
    for (int x = whole_end; x < width_; ++x)
      write_from(x, x + 1);
  }

  const Memory& memory_;
  int width_, height_;
  Reach reach_;
  Scale scale_;
};

class GuidedCpu final : public Guided::Backend {
 public:
  GuidedCpu(Device& device, const FrameLayout& layout)
      : layout_(layout),
        frame_(layout),
        bands_(device, layout.height,
               scratch_bytes<WindowMemory<std::uint64_t, std::uint32_t, LargestWindow>>(
                   layout.width)) {
    std::size_t max_samples = 1;
    for (int c = 0; c < frame_.channel_count; ++c) {
      const Channel& channel = frame_.channels[c];
      max_samples = std::max(max_samples, static_cast<std::size_t>(channel.width) * channel.height);
    }
    words_ = device.allocate(sizeof(std::uint32_t) * max_samples);
  }

  void set(const Parameters& parameters) override {
    parameters_ = parameters;
    scale_ = Scale(parameters.epsilon, layout_.bits);
  }

  void copy(const ConstFrame& in, const Frame& out) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      copy_plane(in.planes[p], out.planes[p]);
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      if (frame_.has_other_bytes[p])
        copy_plane(in.planes[p], out.planes[p]);
    for (int c = 0; c < frame_.channel_count; ++c) {
      const Channel& channel = frame_.channels[c];
      const Reach reach(channel, parameters_.radius);
      const RowRange rows = rows_with_results(channel, active);
      if (layout_.bits == 8) {
        if (reach.is_narrow(channel))
          filter<std::uint8_t, std::uint32_t, true>(channel, reach, rows, in, out);
        else
          filter<std::uint8_t, std::uint64_t, false>(channel, reach, rows, in, out);
      } else {
        if (reach.is_narrow(channel))
          filter<std::uint16_t, std::uint64_t, true>(channel, reach, rows, in, out);
        else
          filter<std::uint16_t, std::uint64_t, false>(channel, reach, rows, in, out);
      }
    }
  }

 private:
  /// Sum is the type of sums of samples and of their squares. Those of words are narrow or wide.
  template <class Sample, class Sum, bool kNarrow>
  void filter(const Channel& channel, const Reach& reach, const RowRange& rows,
              const ConstFrame& in, const Frame& out) const {
    using WordSum = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
    const int bits = layout_.bits;
    const auto words_of = [&](int y) {
      return words_.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(channel.width) * y;
    };
    const Samples samples(layout_, channel);
    const auto samples_of = [&](int y, Sample* buffer) { return samples.row(in, y, buffer); };
    const RowRange windows = rows_with_windows(channel, reach.y, rows);
    bands_.for_each([&](Band& band) {
      using Window = LineWindow<kNarrow, Sum>;
      const WindowMemory<Sum, Sample, Window> memory(band.scratch, channel.width);
      const Band share = band.of(windows.end - windows.begin);
      WindowRows<Sum, Sample, Window>(memory, channel, reach, scale_)
          .run(windows.begin + share.begin, windows.begin + share.end, samples_of,
               [&](int y, int from, int to, const WindowEnds<Sum>& sums, const Window& window) {
                 write_words(to - from, sums, window, words_of(y) + from);
               });
    });
    bands_.for_each([&](Band& band) {
      using Window = LevelWindow<kNarrow>;
      const WindowMemory<WordSum, std::uint32_t, Window> memory(band.scratch, channel.width);
      const Band share = band.of(rows.end - rows.begin);
      // Words are read in place, which leaves the buffers to the samples.
      auto* const values = reinterpret_cast<Sample*>(memory.added);
      auto* const levels = reinterpret_cast<Sample*>(memory.removed);
      const Sample* row = nullptr;
      WindowRows<WordSum, std::uint32_t, Window>(memory, channel, reach, scale_)
          .run(
              rows.begin + share.begin, rows.begin + share.end,
              [&](int y, std::uint32_t*) { return words_of(y); },
              [&](int y, int from, int to, const WindowEnds<WordSum>& sums, const Window& window) {
                if (from == 0)
                  row = samples_of(y, values);
                write_levels(to - from, sums, window, bits, row + from, levels + from);
                if (to == channel.width)
                  store(channel, levels, out.planes[channel.plane].row(y));
              });
    });
  }

  template <class Sample>
  void store(const Channel& channel, const Sample* levels, std::uint8_t* row) const {
    for (int x = 0; x < channel.width; ++x) {
      const auto word = static_cast<Sample>(levels[x] << layout_.shift);
      const std::ptrdiff_t place = channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x;
      std::memcpy(row + place * static_cast<std::ptrdiff_t>(sizeof word), &word, sizeof word);
    }
  }

  FrameLayout layout_;
  FilteredFrame frame_;
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
