// SPDX-License-Identifier: LGPL-2.1-or-later
//
// GaussBlur on the CPU device against the definition, and on the CUDA device against the CPU
// device, in every byte.

#include <algorithm>
#include <utility>

#include "tests/kernels/common/layout_cases.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"

namespace cudavision::test {
namespace {

using namespace gaussblur;

// Two that differ in every bit, so that a byte which is not written shows in one run or the other.
constexpr std::uint8_t poison = 0xcd, other_poison = 0x32;

/// Runs the case on device three times, another picture in between, and compares all of what it
/// wrote.
void expect_block(Device& device, const GaussBlurCase& test, const std::vector<std::uint8_t>& input,
                  const std::vector<std::uint8_t>& expected) {
  GaussBlurRunner runner(device, test);
  const auto block = runner.run(input, poison);
  ASSERT_EQ(difference(test, expected, block), "");

  GaussBlurCase another = test;
  another.content = Content::random;
  another.content_seed += 1;
  runner.run(input_block(another), poison);
  const auto again = runner.run(input, other_poison);
  ASSERT_EQ(hash(test, again), hash(test, block)) << "a second run gives something else";
}

void expect_definition(const GaussBlurCase& test) {
  SCOPED_TRACE(describe(test));
  const auto device = make_cpu_device();
  const auto input = input_block(test);
  expect_block(*device, test, input, defined_block(test, input, poison));
}

void expect_equal_devices(Device& cuda, const GaussBlurCase& test) {
  SCOPED_TRACE(describe(test));
  const auto cpu = make_cpu_device();
  const auto input = input_block(test);
  expect_block(cuda, test, input, GaussBlurRunner(*cpu, test).run(input, poison));
}

class GaussBlurCases : public LayoutCases {};

TEST_P(GaussBlurCases, CpuEqualsDefinition) {
  for_each_case(make_gaussblur_case, expect_definition);
}

TEST_P(GaussBlurCases, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case(make_gaussblur_case,
                [&](const GaussBlurCase& test) { expect_equal_devices(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, GaussBlurCases, every_layout(), layout_name);

gaussblur::Parameters sized(int size_x, int size_y, Border border = Border::reflect_101) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = parameters.sigma_y = 0;
  parameters.size_x = size_x;
  parameters.size_y = size_y;
  parameters.border = border;
  return parameters;
}

gaussblur::Parameters sigmas(double x, double y, Border border = Border::reflect_101) {
  gaussblur::Parameters parameters;
  parameters.sigma_x = x;
  parameters.sigma_y = y;
  parameters.border = border;
  return parameters;
}

gaussblur::Parameters with_border(gaussblur::Parameters parameters, std::uint16_t value) {
  parameters.border = Border::constant;
  parameters.border_values = {value, static_cast<std::uint16_t>(value / 2),
                              static_cast<std::uint16_t>(value / 3), 1};
  return parameters;
}

gaussblur::Parameters sharpening(gaussblur::Parameters parameters) {
  parameters.sharpen = true;
  return parameters;
}

gaussblur::Parameters fine(gaussblur::Parameters parameters) {
  parameters.fine = true;
  return parameters;
}

gaussblur::Parameters per_field(gaussblur::Parameters parameters) {
  parameters.fields = true;
  return parameters;
}

/// Pictures and kernels at the ends of what there may be.
struct Extreme {
  const char* name;
  const char* layout;
  int width, height;
  Content content;
  gaussblur::Parameters parameters;
};

const Extreme extremes[] = {
    // Smaller than the kernel, down to nothing but border.
    {"OnePixel", "GRAY8", 1, 1, Content::random, sigmas(1.2, 1.2)},
    {"OnePixelConstant", "GRAY8", 1, 1, Content::random, with_border(sigmas(1.2, 1.2), 200)},
    {"OnePixelRgbaConstant", "RGBA", 1, 1, Content::random, with_border(sized(1023, 1023), 255)},
    {"OnePixelFields", "GRAY8", 1, 1, Content::random, per_field(sigmas(5, 5))},
    {"OneRow", "GRAY8", 1000, 1, Content::random, sized(31, 31)},
    {"OneRowConstant", "GRAY8", 1000, 1, Content::random, with_border(sized(31, 31), 0)},
    {"OneRowWrap16", "GRAY16", 333, 1, Content::random, sized(101, 101, Border::wrap)},
    {"OneColumn", "GRAY8", 1, 1000, Content::random, sized(31, 31)},
    {"OneColumnConstant16", "GRAY16", 1, 500, Content::random, with_border(sized(31, 31), 65535)},
    {"OneColumnRgb", "RGB", 1, 77, Content::random, sized(1023, 1023, Border::reflect)},
    {"WidestRow", "GRAY8", 65535, 2, Content::random, sized(31, 3)},
    {"HighestColumn", "GRAY8", 2, 65535, Content::random, sized(3, 31)},
    {"WidestRowRgba", "RGBA", 65535, 1, Content::random, sized(15, 1)},
    {"TwoPixels101", "GRAY8", 2, 2, Content::random, sized(1023, 1023)},
    {"ThreeByFive", "GRAY8", 5, 3, Content::random, sized(31, 31)},
    {"ThreeByFiveReflect", "GRAY8", 5, 3, Content::random, sized(31, 31, Border::reflect)},
    {"ThreeByFiveWrap", "RGB", 5, 3, Content::random, sized(255, 255, Border::wrap)},
    {"ThreeRowsFields", "GRAY8", 40, 3, Content::random, per_field(sized(9, 9))},
    {"TwoRowsFieldsConstant", "NV12", 40, 2, Content::random,
     with_border(per_field(sized(9, 9)), 30)},
    // The largest kernel.
    {"Largest", "GRAY8", 97, 61, Content::random, sized(1023, 1023)},
    {"LargestFine", "GRAY8", 97, 61, Content::random, fine(sized(1023, 1023))},
    {"LargestByItself", "GRAY8", 300, 200, Content::natural, sigmas(127, 127)},
    {"Largest16", "GRAY16", 97, 61, Content::random, sized(1023, 1023, Border::replicate)},
    {"LargestRgba", "RGBA", 50, 40, Content::random, sized(1023, 1023, Border::wrap)},
    {"LargestRgbaConstant", "RGBA", 50, 40, Content::natural, with_border(sized(1023, 1023), 90)},
    {"LargestYuy2", "YUY2", 51, 40, Content::random, sized(1023, 1023)},
    {"LargestP010", "P010", 51, 41, Content::random, sized(1023, 1023, Border::reflect)},
    {"LargestAlongX", "GRAY8", 2000, 9, Content::random, sized(1023, 1)},
    {"LargestAlongY", "GRAY8", 9, 2000, Content::random, sized(1, 1023)},
    {"LargestBySmallest", "RGB", 700, 30, Content::random, sized(1023, 3)},
    {"WideSigmaSmallKernel", "GRAY8", 200, 100, Content::random,
     [] {
       gaussblur::Parameters parameters = sized(3, 5);
       parameters.sigma_x = parameters.sigma_y = 127;
       return parameters;
     }()},
    // Pairs of pixels that are not whole.
    {"Yuy2Width1", "YUY2", 1, 5, Content::random, sigmas(2, 2)},
    {"Yuy2Width2", "YUY2", 2, 5, Content::random, sigmas(2, 2)},
    {"Yuy2Width3", "YUY2", 3, 5, Content::random, sigmas(2, 2)},
    {"Yuy2Width1Constant", "YUY2", 1, 5, Content::random, with_border(sigmas(2, 2), 99)},
    {"UyvyWidth3Constant", "UYVY", 3, 1, Content::random, with_border(sigmas(2, 2), 99)},
    {"Uyvy", "UYVY", 1281, 33, Content::natural, sigmas(2.5, 1.5)},
    {"Nv12Odd", "NV12", 33, 35, Content::random, sigmas(4, 4)},
    {"I420OnePixel", "I420", 1, 1, Content::random, with_border(sigmas(4, 4), 128)},
    // Nothing to do along an axis, or in some of the channels.
    {"RowsOnly", "NV12", 65, 43, Content::random, sigmas(2, 0)},
    {"ColumnsOnly", "NV12", 65, 43, Content::random, sigmas(0, 2)},
    {"RowsOnly16", "P010", 65, 43, Content::random, sigmas(2, 0)},
    {"ColumnsOnlySharpen", "YUY2", 65, 43, Content::random, sharpening(sigmas(0, 2))},
    {"LumaOnly", "NV12", 65, 43, Content::random, sigmas(0.3, 0.3)},
    {"LumaOnlyYuy2", "YUY2", 65, 43, Content::random, sigmas(0.3, 0.3)},
    {"LumaOnlyP010", "P010", 65, 43, Content::random, sigmas(0.2, 0.2)},
    {"ChromaAlongYOnlyYuy2", "YUY2", 65, 43, Content::random, sigmas(0.35, 0.5)},
    {"Identity", "RGBx", 65, 43, Content::random, sigmas(0, 0)},
    {"IdentityByTinySigma", "I420", 65, 43, Content::random, sigmas(0.01, 0.01)},
    {"IdentitySharpen", "YUY2", 65, 43, Content::random, sharpening(sigmas(0, 0))},
    {"IdentityOfDirtyWords", "P010", 65, 43, Content::random, sigmas(0, 0)},
    {"IdentityOfLargeWords", "I420_10", 65, 43, Content::random, sigmas(0.01, 0.01)},
    // Pixels of four bytes, of which the last one is copied, and few of them.
    {"RgbaSeam", "RGBA", 67, 49, Content::random, sized(31, 31)},
    {"RgbaWrap", "RGBA", 5, 40, Content::random, sized(17, 31, Border::wrap)},
    {"RgbaFields", "RGBA", 33, 35, Content::random, per_field(sized(15, 31))},
    {"RgbaSharpen", "RGBA", 70, 41, Content::two_valued, sharpening(sized(31, 15))},
    {"RgbxConstant", "RGBx", 70, 41, Content::random, with_border(sized(31, 31), 200)},
    {"RgbxSharpen", "RGBx", 69, 41, Content::two_valued, sharpening(sized(15, 31))},
    {"RgbaRowsOnly", "RGBA", 69, 41, Content::random, sized(31, 1)},
    {"RgbaColumnsOnly", "RGBA", 69, 41, Content::random, sized(1, 31)},
    {"MaximumRgba", "RGBA", 64, 48, Content::maximum, sized(31, 31)},
    {"MaximumRgbaColumnsOnly", "RGBA", 64, 48, Content::maximum, sized(1, 15)},
    // Few taps.
    {"FewTapsSmallest", "GRAY8", 8, 4, Content::random, sized(5, 5)},
    {"FewTapsMaximum", "GRAY8", 256, 100, Content::maximum, sized(5, 5)},
    {"FewTapsFields", "NV12", 64, 37, Content::random, per_field(sized(5, 5))},
    // Sums at their largest and results at both ends.
    {"Maximum", "GRAY8", 257, 131, Content::maximum, sized(31, 31)},
    {"MaximumConstant", "GRAY8", 257, 131, Content::maximum, with_border(sized(31, 31), 255)},
    {"MaximumLargest", "GRAY8", 100, 100, Content::maximum, sized(1023, 1023)},
    {"MaximumFine", "RGBA", 100, 100, Content::maximum, fine(sized(1023, 1023))},
    {"MaximumIdentityAlongX", "GRAY8", 100, 100, Content::maximum, sized(1, 15)},
    {"Maximum16", "GRAY16", 257, 131, Content::maximum, sized(31, 31)},
    {"Maximum16Constant", "GRAY16", 257, 131, Content::maximum, with_border(sized(31, 31), 65535)},
    {"Maximum16Largest", "GRAY16", 100, 100, Content::maximum, sized(1023, 1023)},
    {"Maximum16IdentityAlongY", "GRAY16", 100, 100, Content::maximum, sized(15, 1)},
    {"MaximumP010", "P010", 100, 100, Content::maximum, sized(31, 31)},
    {"SharpenToBothEnds", "GRAY8", 333, 111, Content::two_valued, sharpening(sized(31, 31))},
    {"SharpenToBothEnds16", "GRAY16", 333, 111, Content::two_valued, sharpening(sized(31, 31))},
    {"SharpenSparkFine", "RGB", 333, 111, Content::spark, sharpening(fine(sigmas(3, 3)))},
    {"SharpenP010", "P010", 333, 111, Content::random, sharpening(sigmas(3, 3))},
    // Frames as they come from a camera.
    {"FullHd", "GRAY8", 1920, 1080, Content::natural, sized(15, 15)},
    {"FullHdNv12", "NV12", 1920, 1080, Content::natural, sigmas(1.2, 1.2)},
    {"FullHdRgba", "RGBA", 1920, 1080, Content::natural, sized(9, 9)},
    {"FullHdP010", "P010", 1920, 1080, Content::natural, sigmas(2, 2)},
};

class GaussBlurExtremes : public testing::TestWithParam<Extreme> {
 protected:
  /// Dense rows of clean words; rows and planes that begin anywhere, words with bits that mean
  /// nothing.
  static std::vector<GaussBlurCase> tests() {
    const Extreme& extreme = GetParam();
    const GaussBlurCase dense =
        plain_gaussblur_case(layout_named(extreme.layout, extreme.width, extreme.height),
                             extreme.parameters, extreme.content, 77);
    GaussBlurCase ragged = dense;
    Random random(78);
    ragged.title = "ragged case";
    ragged.in = random_placement(ragged.layout, random);
    ragged.out = random_placement(ragged.layout, random);
    ragged.dirty = true;
    return {dense, ragged};
  }
  static int pixels() { return GetParam().width * GetParam().height; }
};

TEST_P(GaussBlurExtremes, CpuEqualsDefinition) {
  CUDAVISION_NEEDS_PIXELS(pixels());
  for (const GaussBlurCase& test : tests())
    expect_definition(test);
}

TEST_P(GaussBlurExtremes, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CUDAVISION_NEEDS_PIXELS(pixels());
  CudaTestDevice device;
  for (const GaussBlurCase& test : tests())
    expect_equal_devices(*device, test);
}

INSTANTIATE_TEST_SUITE_P(Frames, GaussBlurExtremes, testing::ValuesIn(extremes),
                         [](const auto& info) { return std::string(info.param.name); });

void PrintTo(const Extreme& extreme, std::ostream* stream) {
  *stream << extreme.layout << ' ' << extreme.width << "×" << extreme.height << ' '
          << name(extreme.content);
}

/// Planes that no video format has: a channel's step and its sampling need not go together.
struct Mixture {
  const char* name;
  int bits;
  int step[3], subsampling[3];  ///< of the channels of one plane
};

constexpr Mixture mixtures[] = {
    {"StepsDiffer", 8, {2, 4, 4}, {1, 1, 1}},     {"SamplingsDiffer", 8, {4, 4, 4}, {1, 2, 1}},
    {"BothDiffer", 8, {2, 4, 4}, {2, 1, 4}},      {"AsInYuy2", 8, {2, 4, 4}, {1, 2, 2}},
    {"SamplingsDiffer16", 16, {2, 2, 0}, {1, 2}}, {"SamplingsDiffer10", 10, {2, 2, 0}, {4, 1}},
};

class GaussBlurMixtures : public testing::TestWithParam<Mixture> {
 protected:
  static GaussBlurCase test(int width, const gaussblur::Parameters& parameters) {
    const Mixture& mixture = GetParam();
    constexpr int height = 37;
    FrameLayout layout = gray_layout(width, height, mixture.bits);
    layout.planes[0].row_bytes = 4 * width + 3;
    layout.channel_count = 0;
    for (int c = 0; c < 3 && mixture.step[c] != 0; ++c) {
      // A step of two bytes leaves every other one to the others.
      const int offset = mixture.bits > 8 ? c : mixture.step[0] == 2 && c > 0 ? 2 * c - 1 : c;
      const int samples = 4 * width / layout.sample_bytes() / mixture.step[c];
      layout.channels[static_cast<std::size_t>(layout.channel_count++)] = {
          c == 0 ? Role::luma : Role::chroma,
          0,
          offset,
          mixture.step[c],
          std::min(width, samples),
          height,
          mixture.subsampling[c]};
    }
    return plain_gaussblur_case(layout, parameters, Content::random, 80);
  }

  template <class Check>
  static void for_each_case(const Check& check) {
    for (const int width : {1, 2, 3, 64, 333}) {
      check(test(width, sigmas(2.5, 1.5)));
      check(test(width, sharpening(with_border(sized(15, 7), 150))));
    }
  }
};

TEST_P(GaussBlurMixtures, CpuEqualsDefinition) {
  for_each_case(expect_definition);
}

TEST_P(GaussBlurMixtures, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case([&](const GaussBlurCase& test) { expect_equal_devices(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Planes, GaussBlurMixtures, testing::ValuesIn(mixtures),
                         [](const auto& info) { return std::string(info.param.name); });

void PrintTo(const Mixture& mixture, std::ostream* stream) {
  *stream << mixture.name;
}

/// Frames and kernels that the GPU has a kernel of its own for: rows of whole words, few taps.
class GaussBlurFewTaps : public testing::TestWithParam<const char*> {
 protected:
  template <class Check>
  static void for_each_case(const Check& check) {
    // A case takes 20 ms on a GPU host, and under a sanitizer longer.
    using Sizes = std::vector<int>;
    const Sizes widths = settings().small ? Sizes{264} : Sizes{8, 24, 520};
    const Sizes heights = settings().small ? Sizes{5, 40} : Sizes{4, 13, 66};
    for (const int width : widths)
      for (const int height : heights)
        for (const Border border : {Border::reflect_101, Border::replicate, Border::reflect,
                                    Border::wrap, Border::constant})
          for (const auto& [size_x, size_y] : {std::pair(5, 5), {3, 5}, {9, 3}})
            check(plain_gaussblur_case(layout_named(GetParam(), width, height),
                                       sized(size_x, size_y, border), Content::random,
                                       static_cast<std::uint64_t>(81 + width + height)));
  }
};

TEST_P(GaussBlurFewTaps, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  CudaTestDevice device;
  for_each_case([&](const GaussBlurCase& test) { expect_equal_devices(*device, test); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, GaussBlurFewTaps,
                         testing::Values("GRAY8", "NV12", "I420", "RGB", "RGBA", "YUY2"),
                         [](const auto& info) { return std::string(info.param); });

/// Frames that the definition would take too long for: the CPU device is held against it with
/// smaller ones.
const Extreme large[] = {
    {"Uhd4k", "GRAY8", 3840, 2160, Content::natural, sized(31, 31)},
    {"Uhd4kLargeSigma", "GRAY8", 3840, 2160, Content::random, sigmas(30, 30)},
    {"Uhd4kFewTaps", "GRAY8", 3840, 2160, Content::random, sized(5, 5)},
    {"Uhd4kFewTapsNv12", "NV12", 3840, 2160, Content::random, sized(5, 5, Border::replicate)},
    {"Uhd4kLargest", "GRAY8", 3840, 2160, Content::random, sized(1023, 1023)},
    {"Uhd4kFine", "GRAY8", 3840, 2160, Content::random, fine(sized(15, 15))},
    {"Uhd4kSharpen", "NV12", 3840, 2160, Content::natural, sharpening(sigmas(3, 3))},
    {"Uhd4kRgba", "RGBA", 3840, 2160, Content::natural, sized(31, 31)},
    {"Uhd4kRgb", "RGB", 3840, 2160, Content::random, with_border(sized(15, 15), 77)},
    {"Uhd4kYuy2", "YUY2", 3840, 2160, Content::random, per_field(sized(15, 15))},
    {"Uhd4k16", "GRAY16", 3840, 2160, Content::random, sized(15, 15)},
    {"Uhd4kP010", "P010", 3840, 2160, Content::random, sigmas(10, 10, Border::wrap)},
    {"Uhd8k", "GRAY8", 7680, 4320, Content::random, sized(31, 31)},
};

class GaussBlurLarge : public testing::TestWithParam<Extreme> {};

TEST_P(GaussBlurLarge, CudaEqualsCpu) {
  CUDAVISION_NEEDS_CUDA();
  const Extreme& frame = GetParam();
  CUDAVISION_NEEDS_PIXELS(frame.width * frame.height);
  CudaTestDevice device;
  expect_equal_devices(*device,
                       plain_gaussblur_case(layout_named(frame.layout, frame.width, frame.height),
                                            frame.parameters, frame.content, 79));
}

INSTANTIATE_TEST_SUITE_P(Frames, GaussBlurLarge, testing::ValuesIn(large),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace cudavision::test
