// SPDX-License-Identifier: LGPL-2.1-or-later

// Builds without the CUDA toolkit compile this file in place of every .cu file, so that no
// operation needs to know which kind of build it is in.

#include "cuda/clahe/backend.h"
#include "cuda/core/device.h"
#include "cuda/core/notify.h"
#include "cuda/gaussblur/backend.h"
#include "cuda/histequalize/backend.h"
#include "cuda/histequalize/regionhistogram_backend.h"
#include "cuda/histogramaverage/backend.h"
#include "cuda/integral/backend.h"
#include "cuda/localstatistics/backend.h"
#include "cuda/mosaic/backend.h"
#include "cuda/nlmeans/backend.h"
#include "cuda/pixels/luminance_backend.h"
#include "cuda/regions/backend.h"
#include "cuda/remap/backend.h"
#include "cuda/remap/pictureremap_backend.h"
#include "cuda/repack/backend.h"
#include "cuda/sgm/backend.h"
#include "cuda/sgm/disparitypicture_backend.h"
#include "cuda/sgm/points_backend.h"

namespace cudavision {
namespace {

[[noreturn]] void refuse_cuda() {
  throw Error(Error::Kind::device,
              "this build has no CUDA kernels: rebuild with the CUDA toolkit (nvcc) installed");
}

}  // namespace

bool built_with_cuda() noexcept {
  return false;
}

std::unique_ptr<Device> make_cuda_device(CudaStream) {
  refuse_cuda();
}

void notify_when_passed(Device&, std::function<void()>) {
  refuse_cuda();
}

std::unique_ptr<Luminance::Backend> make_luminance_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}

void reduce_to_8_bits_cuda(Device&, const SamplePlane&, View<std::uint8_t>) {
  refuse_cuda();
}

namespace clahe {
std::unique_ptr<Clahe::Backend> make_clahe_cuda(Device&, const FrameLayout&, const Tiles&) {
  refuse_cuda();
}
}  // namespace clahe

namespace gaussblur {
std::unique_ptr<GaussBlur::Backend> make_gauss_blur_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}
}  // namespace gaussblur

namespace histequalize {
std::unique_ptr<Histogram::Backend> make_histequalize_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}
std::unique_ptr<RegionHistogram::Backend> make_region_histogram_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}
}  // namespace histequalize

namespace histogramaverage {
std::unique_ptr<HistogramAverage::Backend> make_histogram_average_cuda(Device&, int, int) {
  refuse_cuda();
}
std::unique_ptr<TableHysteresis::Backend> make_table_hysteresis_cuda(Device&, int, int) {
  refuse_cuda();
}
}  // namespace histogramaverage

namespace integral {
std::unique_ptr<Integral::Backend> make_integral_cuda(Device&, const ImageSize&,
                                                      const Parameters&) {
  refuse_cuda();
}
std::unique_ptr<IntegralPicture::Backend> make_integral_picture_cuda(Device&, int) {
  refuse_cuda();
}
}  // namespace integral

namespace localstatistics {
std::unique_ptr<LocalStatistics::Backend> make_local_statistics_cuda(Device&, const ImageSize&, int,
                                                                     bool) {
  refuse_cuda();
}
}  // namespace localstatistics

namespace mosaic {
std::unique_ptr<Mosaic::Backend> make_mosaic_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}
}  // namespace mosaic

namespace nlmeans {
std::unique_ptr<NlMeans::Backend> make_nl_means_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}
}  // namespace nlmeans

namespace remap {
std::unique_ptr<Remap::Backend> make_remap_cuda(Device&, const PackedMap&) {
  refuse_cuda();
}
std::unique_ptr<PictureRemap::Backend> make_picture_remap_cuda(Device&, const SampleCoding&) {
  refuse_cuda();
}
}  // namespace remap

namespace regions {
std::unique_ptr<RegionBlend::Backend> make_region_blend_cuda(Device&, const FrameLayout&) {
  refuse_cuda();
}
}  // namespace regions

namespace repack {
std::unique_ptr<Repack::Backend> make_repack_cuda(Device&, const Storage&, Form) {
  refuse_cuda();
}
}  // namespace repack

namespace sgm {
std::unique_ptr<Stages> make_stages_cuda(Device&, const StageConfig&) {
  refuse_cuda();
}
std::unique_ptr<Stages> make_stages_cuda(Device&, const StageConfig&, int) {
  refuse_cuda();
}
std::unique_ptr<DisparityPicture::Backend> make_disparity_picture_cuda(Device&,
                                                                       const PictureShape&) {
  refuse_cuda();
}
std::unique_ptr<Points::Backend> make_points_cuda(Device&, int) {
  refuse_cuda();
}
}  // namespace sgm

}  // namespace cudavision
