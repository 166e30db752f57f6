// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The CUDA backend of PictureRemap.

#include <algorithm>
#include <cstdint>

#include "cuda/core/cuda_launch.h"
#include "cuda/remap/groups_cuda.h"
#include "cuda/remap/pictureremap_backend.h"

namespace cudavision::remap {
namespace {

constexpr unsigned threads = 256;

struct FillArguments {
  std::uint8_t* out;
  std::int64_t pitch;
  int row_bytes;
  int blocks_per_row;
};

__global__ void __launch_bounds__(threads) fill_kernel(const __grid_constant__ FillArguments a) {
  launch_dependents();
  grid_dependency_wait();
  const int x =
      static_cast<int>(blockIdx.x % a.blocks_per_row * threads) + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.x / a.blocks_per_row);
  if (x < a.row_bytes)
    a.out[a.pitch * y + x] = 0xff;
}

class PictureRemapCuda final : public PictureRemap::Backend {
 public:
  PictureRemapCuda(Device& device, const SampleCoding& coding)
      : coding_(coding), groups_(device.stream()), fill_(device.stream(), fill_kernel) {}

  void run(const std::vector<ChannelGroup>& groups, const std::vector<int>& padded_planes,
           const ConstFrame& in, const Frame& out) override {
    GroupPlanes planes[FrameLayout::max_channels];
    int count = 0;
    for (const ChannelGroup& group : groups)
      planes[count++] = {&group, in.planes[group.plane], group.map->width(), group.map->height(),
                         out.planes[group.plane]};
    const bool whole = GroupsCuda::writes_whole_pixels(coding_, planes, count);
    for (const int plane : padded_planes) {
      const bool padding_is_set =
          whole && std::any_of(groups.begin(), groups.end(), [&](const ChannelGroup& group) {
            return group.plane == plane && group.whole_pixels;
          });
      if (!padding_is_set)
        fill(out.planes[plane]);
    }
    groups_.run(coding_, coding_.shift, planes, count);
  }

 private:
  void fill(View<std::uint8_t> out) const {
    FillArguments a{};
    a.out = out.data;
    a.pitch = out.pitch;
    a.row_bytes = out.width;
    a.blocks_per_row = (out.width + static_cast<int>(threads) - 1) / static_cast<int>(threads);
    fill_(fill_kernel, static_cast<unsigned>(a.blocks_per_row) * out.height, threads, 0, a);
  }

  SampleCoding coding_;
  GroupsCuda groups_;
  Launcher<FillArguments> fill_;
};

}  // namespace

std::unique_ptr<PictureRemap::Backend> make_picture_remap_cuda(Device& device,
                                                               const SampleCoding& coding) {
  return std::make_unique<PictureRemapCuda>(device, coding);
}

}  // namespace cudavision::remap
