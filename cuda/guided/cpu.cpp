// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The guided filter on the CPU, channel by channel, in two passes: one makes a word of each window,
// and the other adds up the words of windows. In both, each band of rows keeps two sums of every
// column over the rows of a window; a window's sums are differences of their running sums.

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/core/parallel.h"
#include "cuda/core/runningsums.h"
#include "cuda/guided/backend.h"
#include "cuda/guided/cpu_rows.h"
#include "cuda/pixels/sample_math.h"

namespace cudavision::guided {
namespace {

/// The working memory of one band. Both passes use the same.
class Scratch {
 public:
  Scratch(Device& device, int width)
      : width_(static_cast<std::size_t>(width)),
        elements_(device.allocate(sizeof(std::uint32_t) * 3 * width_)),
        columns_(device.allocate(sizeof(std::uint64_t) * 2 * width_)),
        running_(device.allocate(sizeof(std::uint64_t) * 2 * (width_ + 1))),
        windows_(device.allocate(max_window_bytes * (width_ + 1))) {}

  /// Returns a row: of zeros, of elements that windows gain, or of those that they lose.
  template <class Element>
  Element* elements(int number) const noexcept {
    return reinterpret_cast<Element*>(elements_.as<std::uint32_t>() +
                                      static_cast<std::size_t>(number) * width_);
  }
  template <class Sum>
  Sum* columns(int number) const noexcept {
    return columns_.as<Sum>() + static_cast<std::size_t>(number) * width_;
  }
  template <class Sum>
  Sum* running(int number) const noexcept {
    return running_.as<Sum>() + static_cast<std::size_t>(number) * (width_ + 1);
  }
  /// Returns the constants of the windows of all widths.
  template <class AnyWindow>
  AnyWindow* windows() const noexcept {
    static_assert(sizeof(AnyWindow) <= max_window_bytes);
    return windows_.as<AnyWindow>();
  }

 private:
  static constexpr std::size_t max_window_bytes = 64;

  std::size_t width_;
  Buffer elements_, columns_, running_, windows_;
};

/// Moves windows down through the rows of a band.
template <class Sum, class Element, class AnyWindow>
class WindowRows {
 public:
  WindowRows(const Scratch& scratch, const Channel& channel, const Reach& reach, const Scale& scale)
      : scratch_(scratch),
        width_(channel.width),
        height_(channel.height),
        reach_(reach),
        scale_(scale) {}

  /// row(y, buffer) returns the elements of a row, and write(y, begin, end, ends, window) takes the
  /// sums of the windows of equal area of samples begin to end − 1 of a row.
  template <class Row, class Write>
  void run(int begin, int end, const Row& row, const Write& write) const {
    Element* const zeros = scratch_.template elements<Element>(0);
    Sum* const first = scratch_.template columns<Sum>(0);
    Sum* const second = scratch_.template columns<Sum>(1);
    std::fill_n(zeros, width_, Element{0});
    std::fill_n(first, width_, Sum{0});
    std::fill_n(second, width_, Sum{0});
    AnyWindow* const windows = scratch_.template windows<AnyWindow>();
    // The columns hold the sums of rows top to bottom − 1.
    int top = std::max(begin - reach_.y, 0), bottom = top;
    int measured = 0;  // the rows of the windows whose constants are known
    for (int y = begin; y < end; ++y) {
      const int from = std::max(y - reach_.y, 0), to = std::min(y + reach_.y + 1, height_);
      while (top < from || bottom < to) {
        const Element* const added =
            bottom < to ? row(bottom++, scratch_.template elements<Element>(1)) : zeros;
        const Element* const removed =
            top < from ? row(top++, scratch_.template elements<Element>(2)) : zeros;
        slide(added, removed, width_, first, second);
      }
      if (measured != to - from) {
        measured = to - from;
        for (int w = min_window_width(); w <= max_window_width(); ++w)
          windows[w] = AnyWindow(static_cast<std::uint32_t>(w) * (to - from), scale_);
      }
      add_up(first, width_, scratch_.template running<Sum>(0));
      add_up(second, width_, scratch_.template running<Sum>(1));
      write_row(y, windows, write);
    }
  }

 private:
  int min_window_width() const { return std::min(reach_.x + 1, width_); }
  int max_window_width() const { return std::min(2 * reach_.x + 1, width_); }

  template <class Write>
  void write_row(int y, const AnyWindow* windows, const Write& write) const {
    const auto write_from = [&](int begin, int end) {
      const int left = std::max(begin - reach_.x, 0);
      const int right = std::min(begin + reach_.x + 1, width_);
      const Sum* const first = scratch_.template running<Sum>(0);
      const Sum* const second = scratch_.template running<Sum>(1);
      write(y, begin, end,
            WindowEnds<Sum>{first + left, first + right, second + left, second + right},
            windows[right - left]);
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

  const Scratch& scratch_;
  int width_, height_;
  Reach reach_;
  Scale scale_;
};

class GuidedCpu final : public Guided::Backend {
 public:
  GuidedCpu(Device& device, const FrameLayout& layout)
      : layout_(layout), frame_(layout), bands_(layout.height) {
    std::size_t max_samples = 1;
    int max_width = 1;
    for (int c = 0; c < frame_.channel_count; ++c) {
      const Channel& channel = frame_.channels[c];
      max_samples = std::max(max_samples, static_cast<std::size_t>(channel.width) * channel.height);
      max_width = std::max(max_width, channel.width);
    }
    words_ = device.allocate(sizeof(std::uint32_t) * max_samples);
    for (int b = 0; b < bands_.count(); ++b)
      scratch_.emplace_back(device, max_width);
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
  /// Calls function(begin, end, scratch) in parallel for parts of the rows.
  template <class Function>
  void for_shares(const RowRange& rows, const Function& function) const {
    const int count = rows.end - rows.begin;
    bands_.for_each([&](const Band& band) {
      function(rows.begin + bands_.first_of(count, band.number),
               rows.begin + bands_.first_of(count, band.number + 1),
               scratch_[static_cast<std::size_t>(band.number)]);
    });
  }

  void copy_plane(View<const std::uint8_t> from, View<std::uint8_t> to) const {
    for_shares({0, from.height}, [&](int begin, int end, const Scratch&) {
      for (int y = begin; y < end; ++y)
        std::memcpy(to.row(y), from.row(y), static_cast<std::size_t>(from.width));
    });
  }

  /// Sum is the type of sums of samples and of their squares. Those of words are narrow or wide.
  template <class Sample, class Sum, bool kNarrow>
  void filter(const Channel& channel, const Reach& reach, const RowRange& rows,
              const ConstFrame& in, const Frame& out) const {
    using WordSum = std::conditional_t<kNarrow, std::uint32_t, std::uint64_t>;
    const int bits = layout_.bits;
    const auto words_of = [&](int y) {
      return words_.as<std::uint32_t>() + static_cast<std::ptrdiff_t>(channel.width) * y;
    };
    const auto samples_of = [&](int y, Sample* buffer) {
      return samples(channel, in.planes[channel.plane].row(y), buffer);
    };
    const RowRange windows = rows_with_windows(channel, reach.y, rows);
    for_shares(windows, [&](int begin, int end, const Scratch& scratch) {
      using Window = LineWindow<kNarrow, Sum>;
      WindowRows<Sum, Sample, Window>(scratch, channel, reach, scale_)
          .run(begin, end, samples_of,
               [&](int y, int from, int to, const WindowEnds<Sum>& sums, const Window& window) {
                 write_words(to - from, sums, window, words_of(y) + from);
               });
    });
    for_shares(rows, [&](int begin, int end, const Scratch& scratch) {
      auto* const values = scratch.elements<Sample>(1);
      auto* const levels = scratch.elements<Sample>(2);
      const Sample* row = nullptr;
      using Window = LevelWindow<kNarrow>;
      WindowRows<WordSum, std::uint32_t, Window>(scratch, channel, reach, scale_)
          .run(
              begin, end, [&](int y, std::uint32_t*) { return words_of(y); },
              [&](int y, int from, int to, const WindowEnds<WordSum>& sums, const Window& window) {
                if (from == 0)
                  row = samples_of(y, values);
                write_levels(to - from, sums, window, bits, row + from, levels + from);
                if (to == channel.width)
                  store(channel, levels, out.planes[channel.plane].row(y));
              });
    });
  }

  /// Returns the values of a row of a channel, in buffer unless they lie side by side.
  template <class Sample>
  const Sample* samples(const Channel& channel, const std::uint8_t* row, Sample* buffer) const {
    if (sizeof(Sample) == 1 && channel.step == 1)
      return reinterpret_cast<const Sample*>(row + channel.offset);
    const std::uint32_t largest = (1u << layout_.bits) - 1;
    for (int x = 0; x < channel.width; ++x) {
      Sample word;
      std::memcpy(&word, row + place(channel, x, sizeof word), sizeof word);
      buffer[x] = static_cast<Sample>(sample_value(word, layout_.shift, largest));
    }
    return buffer;
  }

  template <class Sample>
  void store(const Channel& channel, const Sample* levels, std::uint8_t* row) const {
    for (int x = 0; x < channel.width; ++x) {
      const auto word = static_cast<Sample>(levels[x] << layout_.shift);
      std::memcpy(row + place(channel, x, sizeof word), &word, sizeof word);
    }
  }

  static std::ptrdiff_t place(const Channel& channel, int x, std::size_t sample_bytes) {
    return (channel.offset + static_cast<std::ptrdiff_t>(channel.step) * x) *
           static_cast<std::ptrdiff_t>(sample_bytes);
  }

  FrameLayout layout_;
  FilteredFrame frame_;
  Bands bands_;
  Buffer words_;
  std::vector<Scratch> scratch_;
  Parameters parameters_;
  Scale scale_;
};

}  // namespace

std::unique_ptr<Guided::Backend> make_guided_cpu(Device& device, const FrameLayout& layout) {
  return std::make_unique<GuidedCpu>(device, layout);
}

}  // namespace cudavision::guided
