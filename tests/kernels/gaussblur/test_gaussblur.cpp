// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <utility>

#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/regions/in_regions.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

CUDAVISION_RANDOM_CASES(GaussBlurCases, make_gaussblur_case);

Parameters sigmas(double x, double y, Border border = Border::reflect_101) {
  Parameters parameters;
  parameters.sigma_x = x;
  parameters.sigma_y = y;
  parameters.border = border;
  return parameters;
}

Parameters with_border(Parameters parameters, std::uint16_t value) {
  parameters.border = Border::constant;
  parameters.border_values = {value, static_cast<std::uint16_t>(value / 2),
                              static_cast<std::uint16_t>(value / 3), 1};
  return parameters;
}

Parameters sharpening(Parameters parameters) {
  parameters.sharpen = true;
  return parameters;
}

Parameters fine(Parameters parameters) {
  parameters.fine = true;
  return parameters;
}

Parameters per_field(Parameters parameters) {
  parameters.fields = true;
  return parameters;
}

const Extreme<Parameters> extremes[] = {
    // Tiny, narrow and flat frames; the largest kernels and sigmas.
    {"OnePixel", "GRAY8", 1, 1, Content::random, sigmas(1.2, 1.2)},
    {"OnePixelConstant", "GRAY8", 1, 1, Content::random, with_border(sigmas(1.2, 1.2), 200)},
    {"OnePixelRgbaConstant", "RGBA", 1, 1, Content::random,
     with_border(with_size(1023, 1023), 255)},
    {"OnePixelFields", "GRAY8", 1, 1, Content::random, per_field(sigmas(5, 5))},
    {"OneRow", "GRAY8", 1000, 1, Content::random, with_size(31, 31)},
    {"OneRowWrap16", "GRAY16", 333, 1, Content::random, with_size(101, 101, Border::wrap)},
    {"OneColumn", "GRAY8", 1, 1000, Content::random, with_size(31, 31)},
    {"OneColumnRgb", "RGB", 1, 77, Content::random, with_size(1023, 1023, Border::reflect)},
    {"WidestRow", "GRAY8", 65535, 2, Content::random, with_size(31, 3)},
    {"HighestColumn", "GRAY8", 2, 65535, Content::random, with_size(3, 31)},
    {"WidestRowRgba", "RGBA", 65535, 1, Content::random, with_size(15, 1)},
    {"TwoPixels101", "GRAY8", 2, 2, Content::random, with_size(1023, 1023)},
    {"ThreeByFiveWrap", "RGB", 5, 3, Content::random, with_size(255, 255, Border::wrap)},
    {"ThreeRowsFields", "GRAY8", 40, 3, Content::random, per_field(with_size(9, 9))},
    {"TwoRowsFieldsConstant", "NV12", 40, 2, Content::random,
     with_border(per_field(with_size(9, 9)), 30)},
    {"Largest", "GRAY8", 97, 61, Content::random, with_size(1023, 1023)},
    {"LargestFine", "GRAY8", 97, 61, Content::random, fine(with_size(1023, 1023))},
    {"LargestByItself", "GRAY8", 300, 200, Content::natural, sigmas(127, 127)},
    {"Largest16", "GRAY16", 97, 61, Content::random, with_size(1023, 1023, Border::replicate)},
    {"LargestRgba", "RGBA", 50, 40, Content::random, with_size(1023, 1023, Border::wrap)},
    {"LargestAlongX", "GRAY8", 2000, 9, Content::random, with_size(1023, 1)},
    {"LargestAlongY", "GRAY8", 9, 2000, Content::random, with_size(1, 1023)},
    {"LargestBySmallest", "RGB", 700, 30, Content::random, with_size(1023, 3)},
    {"WideSigmaSmallKernel", "GRAY8", 200, 100, Content::random,
     [] {
       Parameters parameters = with_size(3, 5);
       parameters.sigma_x = parameters.sigma_y = 127;
       return parameters;
     }()},
    // Widths and heights that cut a pair of pixels in half.
    {"Yuy2Width1", "YUY2", 1, 5, Content::random, sigmas(2, 2)},
    {"Yuy2Width3", "YUY2", 3, 5, Content::random, sigmas(2, 2)},
    {"Yuy2Width1Constant", "YUY2", 1, 5, Content::random, with_border(sigmas(2, 2), 99)},
    {"UyvyWidth3Constant", "UYVY", 3, 1, Content::random, with_border(sigmas(2, 2), 99)},
    {"I420OnePixel", "I420", 1, 1, Content::random, with_border(sigmas(4, 4), 128)},
    // Blurs of one axis, of some channels or of nothing; pixels of four bytes; few taps.
    {"RowsOnly", "NV12", 65, 43, Content::random, sigmas(2, 0)},
    {"ColumnsOnly", "NV12", 65, 43, Content::random, sigmas(0, 2)},
    {"ColumnsOnlySharpen", "YUY2", 65, 43, Content::random, sharpening(sigmas(0, 2))},
    {"LumaOnly", "NV12", 65, 43, Content::random, sigmas(0.3, 0.3)},
    {"LumaOnlyYuy2", "YUY2", 65, 43, Content::random, sigmas(0.3, 0.3)},
    {"ChromaAlongYOnlyYuy2", "YUY2", 65, 43, Content::random, sigmas(0.35, 0.5)},
    {"Identity", "RGBx", 65, 43, Content::random, sigmas(0, 0)},
    {"IdentitySharpen", "YUY2", 65, 43, Content::random, sharpening(sigmas(0, 0))},
    {"IdentityOfDirtyWords", "P010", 65, 43, Content::random, sigmas(0, 0)},
    {"IdentityOfLargeWords", "I420_10", 65, 43, Content::random, sigmas(0.01, 0.01)},
    {"RgbaWrap", "RGBA", 5, 40, Content::random, with_size(17, 31, Border::wrap)},
    {"RgbaFields", "RGBA", 33, 35, Content::random, per_field(with_size(15, 31))},
    {"RgbxSharpen", "RGBx", 69, 41, Content::two_valued, sharpening(with_size(15, 31))},
    {"RgbaRowsOnly", "RGBA", 69, 41, Content::random, with_size(31, 1)},
    {"RgbaColumnsOnly", "RGBA", 69, 41, Content::random, with_size(1, 31)},
    {"MaximumRgba", "RGBA", 64, 48, Content::maximum, with_size(31, 31)},
    {"MaximumRgbaColumnsOnly", "RGBA", 64, 48, Content::maximum, with_size(1, 15)},
    {"FewTapsSmallest", "GRAY8", 8, 4, Content::random, with_size(5, 5)},
    {"FewTapsMaximum", "GRAY8", 256, 100, Content::maximum, with_size(5, 5)},
    // The largest sums, and results at both ends of the range.
    {"Maximum", "GRAY8", 257, 131, Content::maximum, with_size(31, 31)},
    {"MaximumLargest", "GRAY8", 100, 100, Content::maximum, with_size(1023, 1023)},
    {"MaximumFine", "RGBA", 100, 100, Content::maximum, fine(with_size(1023, 1023))},
    {"MaximumIdentityAlongX", "GRAY8", 100, 100, Content::maximum, with_size(1, 15)},
    {"Maximum16", "GRAY16", 257, 131, Content::maximum, with_size(31, 31)},
    {"Maximum16Largest", "GRAY16", 100, 100, Content::maximum, with_size(1023, 1023)},
    {"Maximum16IdentityAlongY", "GRAY16", 100, 100, Content::maximum, with_size(15, 1)},
    {"MaximumP010", "P010", 100, 100, Content::maximum, with_size(31, 31)},
    {"SharpenToBothEnds", "GRAY8", 333, 111, Content::two_valued, sharpening(with_size(31, 31))},
    {"SharpenToBothEnds16", "GRAY16", 333, 111, Content::two_valued, sharpening(with_size(31, 31))},
    {"SharpenSparkFine", "RGB", 333, 111, Content::spark, sharpening(fine(sigmas(3, 3)))},
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, with_size(15, 15)},
};

CUDAVISION_TABLE_CASES(GaussBlurExtremes, extremes, dense_and_ragged<GaussBlurCase>);

/// Channels of one plane with unequal steps or subsampling. Only AsInYuy2 is like a video format.
struct Mixture : Named {
  int bits;
  int step[3], subsampling[3];  ///< one for each channel of the only plane
};

constexpr Mixture mixtures[] = {
    {"StepsDiffer", 8, {2, 4, 4}, {1, 1, 1}},     {"SamplingsDiffer", 8, {4, 4, 4}, {1, 2, 1}},
    {"BothDiffer", 8, {2, 4, 4}, {2, 1, 4}},      {"AsInYuy2", 8, {2, 4, 4}, {1, 2, 2}},
    {"SamplingsDiffer16", 16, {2, 2, 0}, {1, 2}}, {"SamplingsDiffer10", 10, {2, 2, 0}, {4, 1}},
};

FrameLayout mixed_layout(const Mixture& mixture, int width) {
  constexpr int height = 37;
  FrameLayout layout = gray_layout(width, height, mixture.bits);
  layout.planes[0].row_bytes = 4 * width + 3;
  layout.channel_count = 0;
  for (int c = 0; c < 3 && mixture.step[c] != 0; ++c) {
    // If the first channel has a step of two bytes, the other channels use the odd bytes.
    const int offset = mixture.bits > 8 ? c : mixture.step[0] == 2 && c > 0 ? 2 * c - 1 : c;
    const int samples = 4 * width / layout.sample_bytes() / mixture.step[c];
    layout.channels[layout.channel_count++] = {c == 0 ? Role::luma : Role::chroma,
                                               0,
                                               offset,
                                               mixture.step[c],
                                               std::min(width, samples),
                                               height,
                                               mixture.subsampling[c]};
  }
  return layout;
}

std::vector<GaussBlurCase> mixed_cases(const Mixture& mixture) {
  std::vector<GaussBlurCase> cases;
  for (const int width : {1, 2, 3, 64, 333})
    for (const Parameters& parameters :
         {sigmas(2.5, 1.5), sharpening(with_border(with_size(15, 7), 150))})
      cases.push_back(
          plain_gaussblur_case(mixed_layout(mixture, width), parameters, Content::random, 80));
  return cases;
}

CUDAVISION_TABLE_CASES(GaussBlurMixtures, mixtures, mixed_cases);

/// Layouts for cases with rows of whole words and few taps, as the GPU's direct kernel requires.
constexpr Named few_taps[] = {{"GRAY8"}, {"NV12"}, {"I420"}, {"RGB"}, {"RGBA"}, {"YUY2"}};

std::vector<GaussBlurCase> few_taps_cases(const Named& one) {
  // A case takes 20 ms on a GPU host and longer under a sanitizer, so small tests have fewer cases.
  using Sizes = std::vector<int>;
  const Sizes widths = settings().small ? Sizes{264} : Sizes{8, 24, 520};
  const Sizes heights = settings().small ? Sizes{5, 40} : Sizes{4, 13, 66};
  std::vector<GaussBlurCase> cases;
  for (const int width : widths)
    for (const int height : heights)
      for (const Border border : {Border::reflect_101, Border::replicate, Border::reflect,
                                  Border::wrap, Border::constant})
        for (const auto& [size_x, size_y] : {std::pair(5, 5), {3, 5}, {9, 3}})
          cases.push_back(plain_gaussblur_case(layout_named(one.name, width, height),
                                               with_size(size_x, size_y, border), Content::random,
                                               static_cast<std::uint64_t>(81 + width + height)));
  return cases;
}

CUDAVISION_CUDA_TABLE_CASES(GaussBlurFewTaps, few_taps, few_taps_cases);

/// Frames that are too large for the slow definition; CUDA is compared with the CPU only.
const Extreme<Parameters> large[] = {
    {"Uhd4k", "GRAY8", 3840, 2160, Content::natural, with_size(31, 31)},
    {"Uhd4kLargeSigma", "GRAY8", 3840, 2160, Content::random, sigmas(30, 30)},
    {"Uhd4kFewTaps", "GRAY8", 3840, 2160, Content::random, with_size(5, 5)},
    {"Uhd4kFewTapsNv12", "NV12", 3840, 2160, Content::random, with_size(5, 5, Border::replicate)},
    {"Uhd4kLargest", "GRAY8", 3840, 2160, Content::random, with_size(1023, 1023)},
    {"Uhd4kFine", "GRAY8", 3840, 2160, Content::random, fine(with_size(15, 15))},
    {"Uhd4kSharpen", "NV12", 3840, 2160, Content::natural, sharpening(sigmas(3, 3))},
    {"Uhd4kRgba", "RGBA", 3840, 2160, Content::natural, with_size(31, 31)},
    {"Uhd4kRgb", "RGB", 3840, 2160, Content::random, with_border(with_size(15, 15), 77)},
    {"Uhd4kYuy2", "YUY2", 3840, 2160, Content::random, per_field(with_size(15, 15))},
    {"Uhd4k16", "GRAY16", 3840, 2160, Content::random, with_size(15, 15)},
    {"Uhd4kP010", "P010", 3840, 2160, Content::random, sigmas(10, 10, Border::wrap)},
    {"Uhd8k", "GRAY8", 7680, 4320, Content::random, with_size(31, 31)},
};

CUDAVISION_CUDA_TABLE_CASES(GaussBlurLarge, large, dense<GaussBlurCase>);

CUDAVISION_REGION_CASES(GaussBlurRegions, make_gaussblur_case);

const Extreme<Parameters> in_regions[] = {
    {"Direct", "GRAY8", 2051, 1203, Content::random, with_size(5, 5)},
    {"DirectNv12", "NV12", 2051, 1203, Content::random, with_size(3, 3)},
    {"SmallRgb", "RGB", 2051, 1203, Content::random, sigmas(2, 2)},
    {"SmallYuy2", "YUY2", 2051, 1203, Content::random, sigmas(2, 2)},
    {"SmallWords", "P010", 2051, 1203, Content::random, sigmas(1.5, 1.5)},
    {"SmallFine", "GRAY8", 2051, 1203, Content::random, fine(sigmas(2, 2))},
    {"Pixels", "RGBA", 2051, 1203, Content::random, sigmas(2, 2)},
    {"LargeNv12", "NV12", 2051, 1203, Content::random, sigmas(12, 12)},
    {"LargeWords", "GRAY16", 2051, 1203, Content::random, sigmas(12, 12)},
    {"Largest", "RGBA", 2051, 1203, Content::random, with_size(1023, 1023)},
    {"Fields", "NV12", 2051, 1203, Content::random, per_field(sigmas(2, 2))},
    {"Wrap", "GRAY8", 2051, 1203, Content::random, with_size(31, 31, Border::wrap)},
    {"Sharpen", "RGBx", 2051, 1203, Content::random, sharpening(sigmas(2, 2))},
};

CUDAVISION_LARGE_REGION_CASES(GaussBlurLargeRegions, GaussBlurCase, in_regions, four_regions(0));
CUDAVISION_LARGE_REGION_CASES(GaussBlurFeathers, GaussBlurCase, in_regions, four_regions(20));

}  // namespace
}  // namespace cudavision::test
