// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gaussblur_implementation.h"

namespace cudavision {
namespace {

/// The definition, sample by sample.
class GaussBlurCpu final : public GaussBlur::Implementation {
 public:
  explicit GaussBlurCpu(const FrameLayout& layout) : layout_(layout) {}
  void set(const GaussBlurParameters& parameters, const BlurKernels& kernels) override {
    parameters_ = parameters;
    kernels_ = std::make_unique<BlurKernels>(kernels);
  }
  void run(const ConstFrame& in, const Frame& out) override {
    for (int p = 0; p < layout_.plane_count; ++p)
      for (int y = 0; y < in.planes[p].height; ++y)
        std::copy_n(in.planes[p].row(y), in.planes[p].width, out.planes[p].row(y));
  }

 private:
  FrameLayout layout_;
  GaussBlurParameters parameters_;
  std::unique_ptr<BlurKernels> kernels_;
};

}  // namespace

std::unique_ptr<GaussBlur::Implementation> make_gauss_blur_cpu(Device&, const FrameLayout& layout) {
  return std::make_unique<GaussBlurCpu>(layout);
}

}  // namespace cudavision
