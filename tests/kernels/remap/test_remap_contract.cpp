// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/contract/contract.h"
#include "tests/kernels/remap/pictureremap_case.h"
#include "tests/kernels/remap/remap_case.h"

namespace cudavision::test {
namespace {

struct RemapContract : ContractTraits<RemapCase> {
  static std::vector<LayoutRefusal> layout_refusals() { return luminance_layout_refusals(); }

  static Case refused_case() { return dense("NV12", 34, 10, {MapKind::lens, 1}); }

  static std::vector<FramesRefusal<Case>> frames_refusals() {
    return wrong_frames<Case, ConstFrame>(&Case::Frames::in, "of the input frame");
  }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "GRAY16", "P010", "RGBx"}) {
      for (const MapKind kind : {MapKind::lens, MapKind::scattered})
        cases.push_back(dense(layout, width, height, {kind, 2}));
      cases.push_back(dense(layout, 3000, 50, {MapKind::scattered, 3, width, height}));
    }
    return cases;
  }
};

CUDAVISION_CONTRACT(Remap, RemapContract);

struct PictureRemapContract : ContractTraits<PictureRemapCase> {
  static std::vector<std::function<void(Device&, const FrameLayout&)>> constructors() {
    return {[](Device& device, const FrameLayout& layout) {
      const HostPictureMaps maps(gray_layout(33, 9), {});
      remap::PictureRemap(device, layout, maps.view(), 0);
    }};
  }

  static Case refused_case() { return dense("NV12", 34, 10, {MapKind::lens, 1, 16}); }

  static std::vector<Case> representatives(int width, int height) {
    std::vector<Case> cases;
    for (const char* layout : {"GRAY8", "NV12", "YUY2", "P010", "RGBx", "GBR"})
      for (const MapKind kind : {MapKind::lens, MapKind::scattered})
        cases.push_back(dense(layout, width, height, {kind, 2, 16}));
    return cases;
  }
};

CUDAVISION_CONTRACT(PictureRemap, PictureRemapContract);

}  // namespace
}  // namespace cudavision::test
