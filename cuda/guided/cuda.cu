// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The guided filter on CUDA: chooses the kernels of both passes and launches them.

#include <array>

#include "cuda/core/layoutcheck.h"
#include "cuda/guided/backend.h"
#include "cuda/guided/passes.cuh"
#include "cuda/windows/gather.cuh"
#include "cuda/windows/plan.cuh"

namespace cudavision::guided {
namespace {

using windows::Picture;
using PassKernels = windows::PassKernels<Arguments>;

template <class Sample, bool kNarrow>
std::array<PassKernels, 2> passes_of() {
  using LineSum = std::conditional_t<kNarrow && sizeof(Sample) == 1, std::uint32_t, std::uint64_t>;
  return {windows::kernels_of<LinesPass<Sample, LineSum, kNarrow>, kNarrow>(),
          windows::kernels_of<LevelsPass<Sample, kNarrow>, kNarrow>()};
}

class GuidedCuda final : public Guided::Backend {
 public:
  GuidedCuda(Device& device, const FrameLayout& layout)
      : layout_(layout),
        channels_(filtered_channels(layout)),
        values_(device, layout.bits),
        launcher_(device.stream(), windows::windows_kernel<LevelsPass<std::uint8_t, true>, false>) {
    for (int c = 0; c < channel_count(); ++c) {
      const Channel& channel = channels_[c];
      values_.add(channel.width, channel.height);
      words_[c] = windows::padded_rows(device, channel.width, channel.height, 4);
      tables_[c] = windows::TableMemory(device, channel.width, channel.height, 8);
    }
  }

  void set(const Parameters& parameters) override {
    const Scale scale(parameters.epsilon, layout_.bits);
    bool narrow = true;
    for (int c = 0; c < channel_count(); ++c) {
      const WindowRadius radius(channels_[c], parameters.radius);
      narrow = narrow && radius.is_narrow(channels_[c]) && radius.x <= max_narrow_radius;
    }
    const auto kernels =
        layout_.bits == 8
            ? (narrow ? passes_of<std::uint8_t, true>() : passes_of<std::uint8_t, false>())
            : (narrow ? passes_of<std::uint16_t, true>() : passes_of<std::uint16_t, false>());
    for (std::size_t pass = 0; pass < 2; ++pass) {
      Arguments& a = plans_[pass].arguments;
      a = {};
      a.settings = scale;
      a.halo = pass == 0 ? 1 : 0;
      a.picture_count = channel_count();
      for (int c = 0; c < channel_count(); ++c) {
        const Channel& channel = channels_[c];
        const WindowRadius radius(channel, parameters.radius);
        Picture& picture = a.pictures[c];
        picture.width = channel.width;
        picture.height = channel.height;
        picture.sample_width = channel.subsampling_x;
        picture.sample_height = channel.subsampling_y;
        picture.radius_x = radius.x;
        picture.radius_y = radius.y;
        picture.half_pitch = windows::padded_width(channel.width) / 2;
      }
      plans_[pass].choose(kernels[pass]);
    }
  }

  void run(const ConstFrame& in, const Frame& out, const regions::ActiveCells* active) override {
    RowRange line_rows[FrameLayout::max_channels], level_rows[FrameLayout::max_channels];
    for (int c = 0; c < channel_count(); ++c) {
      const Channel& channel = channels_[c];
      // The first pass writes words from samples; the second writes levels from samples and words.
      Picture& lines = plans_[0].arguments.pictures[c];
      const View<const std::uint8_t> from = in.planes[channel.plane];
      values_.bind(c, from.data + channel.offset * layout_.sample_bytes(),
                   kernel_pitch(operation, from.pitch), channel.step, plans_[0].columns_of_thread(),
                   lines);
      lines.elements = lines.values;
      lines.pitch = lines.values_pitch;
      lines.out = words_[c].as<std::uint8_t>();
      lines.out_pitch = 8 * lines.half_pitch;
      Picture& levels = plans_[1].arguments.pictures[c];
      levels.elements = lines.out;
      levels.pitch = lines.out_pitch;
      levels.values = lines.values;
      levels.values_pitch = lines.values_pitch;
      windows::set_output(levels, out.planes[channel.plane], channel.offset, channel.step,
                          layout_.sample_bytes(), layout_.shift, operation);
      level_rows[c] = rows_with_results(channel, active);
      line_rows[c] = rows_with_windows(channel, lines.radius_y, level_rows[c]);
    }
    values_.copy(layout_.shift);
    for (Plan& plan : plans_) {
      plan.arguments.everywhere = active == nullptr;
      if (active)
        plan.arguments.active = *active;
    }
    plans_[0].launch(launcher_, line_rows, tables_.data());
    plans_[1].launch(launcher_, level_rows, tables_.data());
  }

 private:
  using Plan = windows::Plan<Arguments>;

  int channel_count() const { return static_cast<int>(channels_.size()); }

  static constexpr char operation[] = "guided filter";
  /// Up to this radius, the columns of a block have no gap, which narrow passes do not support.
  static constexpr int max_narrow_radius = 240;

  FrameLayout layout_;
  std::vector<Channel> channels_;
  windows::ChannelValues values_;
  std::array<Buffer, FrameLayout::max_channels> words_;
  std::array<windows::TableMemory, FrameLayout::max_channels> tables_;
  Launcher<Arguments> launcher_;
  Plan plans_[2];
};

}  // namespace

std::unique_ptr<Guided::Backend> make_guided_cuda(Device& device, const FrameLayout& layout) {
  return std::make_unique<GuidedCuda>(device, layout);
}

}  // namespace cudavision::guided
