// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/core/dispatch.h"
#include "tests/bench/subject.h"
#include "tests/kernels/gaussblur/gaussblur_case.h"
#include "tests/kernels/mosaic/mosaic_case.h"
#include "tests/kernels/regions/masks_case.h"
#include "tests/kernels/regions/regions_case.h"

namespace cudavision::bench {
namespace {

using Blur = gaussblur::Parameters;

Blur size(int side) {
  return test::with_size(side, side);
}

Blur sigma(double number) {
  return test::with_sigma(number);
}

Blur fine(Blur blur) {
  blur.fine = true;
  return blur;
}

Blur sharpening(Blur blur) {
  blur.sharpen = true;
  return blur;
}

std::string blur_name(const Blur& blur) {
  std::string sigma = std::to_string(blur.sigma_x);
  sigma.erase(sigma.find_last_not_of('0') + 1);
  if (sigma.back() == '.')
    sigma.pop_back();
  return std::string(blur.sharpen ? "sharpen " : "blur ") +
         (blur.size_x > 0 ? std::to_string(blur.size_x) + "x" + std::to_string(blur.size_y)
                          : "sigma " + sigma) +
         (blur.fine ? " fine" : "");
}

const Entry<Blur> blurs[] = {
    {"GRAY8", hd, size(3), opencv},
    {"GRAY8", hd, size(5), all, 2.5},
    {"GRAY8", uhd, size(5), cuda, 4.8},
    {"GRAY8", hd, size(15), all, 4},
    {"GRAY8", uhd, size(15), all, 8},
    {"GRAY8", hd, size(31), all},
    {"GRAY8", uhd, size(31), cuda, 12},
    {"GRAY8", uhd8, size(31), cuda, 48},
    {"GRAY8", hd, size(1023), cuda},
    {"GRAY8", hd, sigma(1.2), opencv},
    {"GRAY8", hd, sigma(30), all},
    {"GRAY8", uhd, sigma(30), cuda, 40},
    {"GRAY8", hd, fine(size(15)), cpu},
    {"GRAY8", uhd, fine(size(15)), cuda},
    {"GRAY16", hd, size(5), opencv},
    {"GRAY16", hd, size(15), cpu | opencv},
    {"GRAY16", uhd, size(15), cuda, 30},
    {"GRAY16", hd, sigma(1.2), opencv},
    {"GRAY16", hd, sigma(30), opencv},
    {"GRAY16", uhd, sigma(30), cuda},
    {"NV12", hd, sigma(1.2), both},
    {"NV12", hd, size(15), cpu},
    {"NV12", uhd, size(15), cuda, 12},
    {"NV12", hd, sharpening(sigma(1.2)), cpu},
    {"NV12", uhd, sharpening(sigma(1.2)), cuda},
    {"P010", hd, size(15), cpu},
    {"P010", uhd, size(15), cuda},
    {"YUY2", hd, size(15), both},
    {"RGB", hd, size(5), opencv},
    {"RGB", hd, size(15), all},
    {"RGBA", uhd, size(15), cuda, 28},
    {"RGBA", uhd, size(31), all, 44},
    {"RGBx", hd, size(15), both},
};

/// The parameter is the block size, or 0 for a solid colour.
constexpr Entry<int> mosaics[] = {
    {"GRAY8", hd, 16, both},  {"GRAY8", uhd, 4, both},   {"GRAY8", uhd, 16, both},
    {"GRAY8", uhd, 24, both}, {"GRAY8", uhd, 256, both}, {"NV12", hd, 16, both},
    {"NV12", uhd, 16, both},  {"P010", uhd, 16, both},   {"YUY2", hd, 16, both},
    {"RGB", hd, 16, both},    {"RGBA", uhd, 16, both},   {"RGBx", hd, 16, both},
    {"NV12", hd, 0, both},    {"NV12", uhd, 0, both},    {"RGBx", hd, 0, both},
};

std::string mosaic_name(int block) {
  return block > 0 ? "mosaic " + std::to_string(block) : "solid colour";
}

test::MosaicCase mosaic_case(const FrameLayout& layout, int block, Content content,
                             std::uint64_t seed) {
  return test::plain_mosaic_case(
      layout, block > 0 ? test::blocks_of(block) : test::solid_colour(layout.bits), content, seed);
}

template <class Parameters>
struct InRegions {
  Parameters parameters;
  int count;
  int feather = 0;

  std::string suffix() const {
    return " in " + std::to_string(count) + " regions" +
           (feather > 0 ? ", feather " + std::to_string(feather) : "");
  }
  regions::Parameters spread(const FrameLayout& layout) const {
    constexpr int side = 200;
    regions::Parameters spread;
    spread.feather = feather;
    for (; spread.count < count; ++spread.count) {
      // Steps that are coprime to the ranges of x and y spread the boxes over the whole frame.
      const int x = (100 + spread.count * 1237) % (layout.width - side);
      const int y = (80 + spread.count * 733) % (layout.height - side);
      spread.boxes[spread.count] = {x, y, x + side, y + side};
    }
    return spread;
  }
};

const Entry<InRegions<Blur>> blurred_regions[] = {
    {"GRAY8", uhd, {size(15), 0}, cuda, 3.5}, {"GRAY8", uhd, {size(15), 1}, cuda, 4.5},
    {"GRAY8", uhd, {size(15), 4}, cuda, 5},   {"GRAY8", uhd, {size(15), 4, 16}, cuda},
    {"GRAY8", uhd, {size(15), 64}, cuda, 12}, {"NV12", uhd, {size(15), 0}, cuda, 4.5},
    {"NV12", uhd, {size(15), 1}, cuda},       {"NV12", uhd, {size(15), 4}, cuda, 6.5},
    {"NV12", uhd, {size(15), 64}, cuda},      {"RGBA", uhd, {size(15), 4}, cuda},
};

constexpr Entry<InRegions<int>> mosaic_regions[] = {
    {"NV12", uhd, {16, 4}, cuda},
    {"NV12", uhd, {0, 4}, cuda},
};

/// A filter whose output is blended with the frame inside regions.
template <class Filter>
struct RegionCase : Filter {
  struct Operation {
    Operation(Device& device, const RegionCase& test, const typename Filter::Parameters& set)
        : filter(device, test.layout, set),
          blend(device, test.layout, test.selection),
          scratch(device.allocate(test.out.bytes)),
          processed(frame_in(test.layout, test.out, scratch.template as<std::uint8_t>())) {}

    typename Filter::Operation filter;
    regions::RegionBlend blend;
    Buffer scratch;
    Frame processed;
  };
  using Frames = test::CaseFrames<RegionCase>;

  Operation make(Device& device, const typename Filter::Parameters& set) const {
    return {device, *this, set};
  }
  static void enqueue(Operation& operation, const ConstFrame& from, const Frame& to) {
    operation.filter.run(from, operation.processed, operation.blend.active());
    operation.blend.run(from, operation.processed, to);
  }

  regions::Parameters selection;
};

template <class Parameters, std::size_t count, class Name, class Make>
void add_region_table(Subjects& subjects, const Entry<InRegions<Parameters>> (&table)[count],
                      const Name& name, const Make& make) {
  add_table(
      subjects, table,
      [&](const InRegions<Parameters>& row) { return name(row.parameters) + row.suffix(); },
      [&](const FrameLayout& layout, const InRegions<Parameters>& row, Content content, int seed) {
        const auto test = make(layout, row.parameters, content, seed);
        return RegionCase<std::remove_const_t<decltype(test)>>{test, row.spread(layout)};
      });
}

/// Runs the kernels that compute distances from a mask.
class MaskRun {
 public:
  MaskRun(Device& device, const test::MasksCase& test)
      : device_(device),
        samples_(device, test.masks[0].bytes),
        ids_(device, test.masks[0].ids),
        distances_(device, std::vector<std::uint8_t>(2 * static_cast<std::size_t>(test.width) *
                                                     static_cast<std::size_t>(test.height))),
        mask_(device, {{samples_.data(), test.masks[0].pitch, ids_.data(), test.masks[0].width,
                        test.masks[0].height, 1, test.masks[0].box}}) {
    const View<std::uint8_t> result{distances_.data(), test.width, test.height, test.width};
    work_ = {mask_.data(), 1, test.radius, result.row(test.height), result};
  }

  void run() const {
    dispatch<regions::find_mask_distances_cuda, regions::find_mask_distances_cpu>(device_, work_);
  }

 private:
  Device& device_;
  const test::DeviceBlock<std::uint8_t> samples_;
  const test::DeviceBlock<std::uint32_t> ids_;
  const test::DeviceBlock<std::uint8_t> distances_;
  const test::DeviceBlock<regions::MaskPlane> mask_;
  regions::MaskWork work_;
};

/// Adds a subject with a mask of `discs` discs. The mask's sides are a quarter of the frame's.
void add_mask(Subjects& subjects, Size size, int radius, int discs, double required) {
  test::MaskPicture mask;
  mask.width = mask.pitch = size.width / 4;
  mask.height = size.height / 4;
  mask.box = {0, 0, size.width, size.height};
  mask.ids = {2, 0, 0, 0, 0, 0, 0, 0};
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      bool inside = false;
      for (int i = 0; i < discs; ++i) {
        const int dx = x - mask.width * (2 * i + 1) / (2 * discs), dy = y - mask.height / 2;
        inside |= dx * dx + dy * dy < mask.height * mask.height / 64;
      }
      mask.bytes.push_back(inside);
    }
  const test::MasksCase test{size.width, size.height, radius, {mask}};
  Subject subject{{"distances of " + std::to_string(radius) + " pixels from " +
                       std::to_string(discs) + " discs",
                   "mask", size.width, size.height, "", required},
                  cuda};
  subject.test = test;
  const std::size_t pixels =
      static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
  subject.prepare = [=](Device& device) -> PreparedWork {
    const auto state = std::make_shared<MaskRun>(device, test);
    return {state, {{[run = state.get()] { run->run(); }, pixels + mask.bytes.size()}}};
  };
  subjects.push_back(subject);
}

}  // namespace

void add_blur(Subjects& subjects) {
  add_table(subjects, blurs, blur_name, test::plain_gaussblur_case);
}

void add_mosaic(Subjects& subjects) {
  add_table(subjects, mosaics, mosaic_name, mosaic_case);
}

void add_regions(Subjects& subjects) {
  add_region_table(subjects, blurred_regions, blur_name, test::plain_gaussblur_case);
  add_region_table(subjects, mosaic_regions, mosaic_name, mosaic_case);
  add_mask(subjects, hd, 64, 3, 40);
  add_mask(subjects, uhd, 64, 3, 0);
  add_mask(subjects, hd, 254, 3, 0);
}

}  // namespace cudavision::bench
