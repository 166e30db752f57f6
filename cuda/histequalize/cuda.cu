// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Pictures of up to 10 bits on CUDA: which kernel a picture takes, and its launch.

#include <algorithm>

#include "cuda/core/cuda_check.h"
#include "cuda/histequalize/narrow.cuh"

namespace cudavision::histequalize {
namespace {

using Kernel = Launcher<Arguments>::Kernel;

/// Groups of a thread that stay in registers. The code of each is a piece of its own, which a small
/// picture would only have to jump over.
template <class Group>
constexpr int many_resident = Group::words == 4 ? 8 : 2;
template <class Group>
constexpr int few_resident = Group::words == 4 ? 2 : 1;

template <class Group, Rows kRows, Action kAction, int kChunks>
Kernel applying_kernel(std::uint32_t groups_per_thread) {
  // Pictures with ragged rows do with the small code: there is no need to build it twice.
  constexpr int many = kRows == Rows::ragged ? few_resident<Group> : many_resident<Group>;
  return groups_per_thread > few_resident<Group>
             ? equalize_kernel<Group, kRows, kAction, kChunks, many>
             : equalize_kernel<Group, kRows, kAction, kChunks, few_resident<Group>>;
}

template <class Group, Rows kRows, int kChunks>
Kernel luma_kernel(Action action, std::uint32_t groups_per_thread) {
  return action == Action::histogram
             ? equalize_kernel<Group, kRows, Action::histogram, kChunks, 0>
             : applying_kernel<Group, kRows, Action::map, kChunks>(groups_per_thread);
}

template <class Group, Rows kRows>
Kernel colour_kernel(Action action, std::uint32_t groups_per_thread) {
  return action == Action::histogram ? equalize_kernel<Group, kRows, Action::histogram, 1, 0>
         : action == Action::shift
             ? applying_kernel<Group, kRows, Action::shift, 1>(groups_per_thread)
             : applying_kernel<Group, kRows, Action::each, 1>(groups_per_thread);
}

constexpr int wide_chunks = (1 << widest_narrow_bits) / kChunk;

template <Rows kRows>
Kernel find_dense_kernel(AccessPattern kind, Action action, std::uint32_t groups_per_thread) {
  switch (kind) {
    case AccessPattern::luma_bytes_1:
      return luma_kernel<LumaBytes<1, 0>, kRows, 1>(action, groups_per_thread);
    case AccessPattern::luma_bytes_2_0:
      return luma_kernel<LumaBytes<2, 0>, kRows, 1>(action, groups_per_thread);
    case AccessPattern::luma_bytes_2_1:
      return luma_kernel<LumaBytes<2, 1>, kRows, 1>(action, groups_per_thread);
    case AccessPattern::luma_words:
      return luma_kernel<LumaWords<false>, kRows, wide_chunks>(action, groups_per_thread);
    case AccessPattern::packed_colour_3:
      return colour_kernel<PackedColour<3>, kRows>(action, groups_per_thread);
    case AccessPattern::packed_colour_4:
      return colour_kernel<PackedColour<4>, kRows>(action, groups_per_thread);
    default:
      return colour_kernel<PlanarColour, kRows>(action, groups_per_thread);
  }
}

Kernel find_kernel(const Picture& picture, Action action, std::uint32_t groups_per_thread) {
  switch (picture.kind) {
    case AccessPattern::scattered_luma_1:
      return luma_kernel<ScatteredLuma<1>, Rows::ragged, 1>(action, groups_per_thread);
    case AccessPattern::scattered_luma_2:
      return luma_kernel<ScatteredLuma<2>, Rows::ragged, wide_chunks>(action, groups_per_thread);
    case AccessPattern::scattered_colour:
      return colour_kernel<ScatteredColour, Rows::ragged>(action, groups_per_thread);
    default:
      return picture.rows == Rows::linear
                 ? find_dense_kernel<Rows::linear>(picture.kind, action, groups_per_thread)
             : picture.rows == Rows::whole
                 ? find_dense_kernel<Rows::whole>(picture.kind, action, groups_per_thread)
                 : find_dense_kernel<Rows::ragged>(picture.kind, action, groups_per_thread);
  }
}

/// What both operations do with a picture of up to 10 bits.
class NarrowLauncher {
 public:
  NarrowLauncher(Device& device, const FrameLayout& layout)
      : device_(device),
        layout_(layout),
        maker_(layout),
        luminance_state_(zeroed_words(
            device, layout.bits == 8 ? Sizes<Action::map, 1>::Exchange::words
                                     : Sizes<Action::map, wide_chunks>::Exchange::words)),
        each_state_(zeroed_words(device, Sizes<Action::each, 1>::Exchange::words)),
        launch_(device.stream(), luma_kernel<LumaBytes<1, 0>, Rows::linear, 1>(Action::map, 1)),
        multiprocessors_(multiprocessor_count()) {}

  void run(Action action, const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram,
           const Parameters& parameters) {
    const Picture picture = maker_.make(in, out);
    if (picture.scattered() && action != Action::histogram)
      copy_mixed_planes(in, out);

    Arguments a{};
    a.picture = picture.groups;
    std::copy(picture.copies, picture.copies + picture.copy_count, a.copies);
    a.copy_count = action == Action::histogram ? 0 : picture.copy_count;
    a.state = action == Action::each ? each_state_.as<std::uint32_t>()
                                     : luminance_state_.as<std::uint32_t>();
    a.total =
        static_cast<std::uint32_t>(layout_.width) * static_cast<std::uint32_t>(layout_.height);
    a.histogram = histogram.data;
    a.histogram_bins = 1 << layout_.bits;
    a.low = parameters.low;
    a.high = parameters.high;
    a.blend = parameters.blend;

    // Blocks wait for each other, so the launch is cooperative; one block per SM always fits.
    const int threads = action == Action::histogram ? counting_threads : applying_threads;
    const auto useful = (picture.groups.count + threads - 1) / threads;
    const unsigned blocks = std::min<std::uint32_t>(multiprocessors_, useful);
    const std::uint32_t stride = blocks * threads;
    a.stride = GroupStride(stride, picture.groups.per_row);
    const std::uint32_t groups_per_thread = (picture.groups.count + stride - 1) / stride;
    launch_(find_kernel(picture, action, groups_per_thread), blocks, threads, 0, a, true);
  }

 private:
  void copy_mixed_planes(const ConstFrame& in, const Frame& out) {
    for (const int p : maker_.mixed_planes())
      device_.copy(in.planes[p], out.planes[p]);
  }

  Device& device_;
  FrameLayout layout_;
  PictureMaker maker_;
  Buffer luminance_state_;  // of the exchange of one table's counts
  Buffer each_state_;       // of three tables' counts
  Launcher<Arguments> launch_;
  int multiprocessors_;
};

class HistogramCuda final : public Histogram::Backend {
 public:
  HistogramCuda(Device& device, const FrameLayout& layout) : launcher_(device, layout) {}

  void run(const ConstFrame& in, View<std::uint32_t> bins) override {
    launcher_.run(Action::histogram, in, Frame{}, bins, {});
  }

 private:
  NarrowLauncher launcher_;
};

class HistogramEqualizeCuda final : public HistogramEqualize::Backend {
 public:
  HistogramEqualizeCuda(Device& device, const FrameLayout& layout)
      : launcher_(device, layout), colour_(layout.find(Role::luma) < 0) {}

  void run(const ConstFrame& in, const Frame& out, View<std::uint32_t> histogram,
           const Parameters& parameters) override {
    const bool each = parameters.channels == Parameters::Channels::each;
    if (each && histogram)
      launcher_.run(Action::histogram, in, Frame{}, histogram, parameters);
    launcher_.run(each      ? Action::each
                  : colour_ ? Action::shift
                            : Action::map,
                  in, out, histogram, parameters);
  }

 private:
  NarrowLauncher launcher_;
  bool colour_;
};

}  // namespace

std::unique_ptr<Histogram::Backend> make_histogram_cuda(Device& device, const FrameLayout& layout) {
  if (layout.bits > widest_narrow_bits)
    return make_histogram_wide_cuda(device, layout);
  return std::make_unique<HistogramCuda>(device, layout);
}

std::unique_ptr<HistogramEqualize::Backend> make_histogram_equalize_cuda(
    Device& device, const FrameLayout& layout) {
  if (layout.bits > widest_narrow_bits)
    return make_histogram_equalize_wide_cuda(device, layout);
  return std::make_unique<HistogramEqualizeCuda>(device, layout);
}

}  // namespace cudavision::histequalize
