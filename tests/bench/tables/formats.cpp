// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/subject.h"
#include "tests/kernels/remap/pictureremap_case.h"
#include "tests/kernels/repack/repack_case.h"

namespace cudavision::bench {
namespace {

/// A lens as in rectification: 8 % of pixels have no source, 16 % of segments cross an image edge.
constexpr test::MapParameters lens{test::MapKind::lens, 31};
constexpr test::PictureMapParameters picture_lens{test::MapKind::lens, 31, 16};

constexpr std::size_t map_bytes = 4;

constexpr Entry<test::MapParameters> planes[] = {
    {"GRAY8", vga, lens, all},
    {"GRAY8", hd, lens, all},
    {"GRAY8", uhd, lens, all},
    {"GRAY16", hd, lens, all},
};

/// Rectification of all channels of a frame, as for the rectified output of cudasgmstereo.
constexpr Entry<test::PictureMapParameters> pictures[] = {
    {"NV12", hd, picture_lens, cuda, 6},
    {"P010", hd, picture_lens, cuda, 8},
    {"BGRA", hd, picture_lens, cuda, 9},
};

struct PlaneRemap {
  PlaneRemap(Device& device, const test::RemapCase& test)
      : frames(device, test),
        remap(device, {test.layout.width, test.layout.height, test.layout.bits}, test.map().view()),
        in{frames.in.planes[0], test.layout.width, test.layout.bits, test.layout.shift} {}
  void run() { remap.run(in); }

  const test::RemapCase::Frames frames;
  remap::Remap remap;
  SamplePlane in;
};

using enum repack::UnpackedForm;

const Entry<test::RepackParameters> conversions[] = {
    {"RGB10A2", hd, {"RGB10A2", channels, false}, both},
    {"RGB10A2", hd, {"RGB10A2", channels, true}, both},
    {"GRAY16_BE", hd, {"GRAY16_BE", channels, false}, both, 2.5},
    {"GBR_12", hd, {"GBR_12", luminance, false}, both, 4},
    {"RGBA64", hd, {"RGBA64", adjustable_luminance, false}, both, 8},
    {"RGBA64", hd, {"RGBA64", adjustable_luminance, true}, both, 9},
    {"RGB10A2", uhd, {"RGB10A2", adjustable_luminance, false}, both, 25},
    {"RGB10A2", uhd, {"RGB10A2", adjustable_luminance, true}, both, 30},
};

}  // namespace

void add_remap(Subjects& subjects) {
  add_table<PlaneRemap>(
      subjects, planes, [](const auto&) { return "remap"; }, test::plain_remap_case, map_bytes);
  add_table(
      subjects, pictures, [](const auto&) { return "remap of pictures"; },
      test::plain_case<test::PictureRemapCase>, map_bytes);
}

void add_repack(Subjects& subjects) {
  for (const Entry<test::RepackParameters>& entry : conversions) {
    const test::RepackCase test = test::plain_repack_case(entry.size.width, entry.size.height,
                                                          entry.parameters, Content::natural, 3);
    Row row = entry.row("repack");
    row.format.insert(0, entry.parameters.packs ? "to " : "from ");
    subjects.push_back(make_subject<CaseRun<test::RepackCase>>(row, entry.runners, test,
                                                               test.in.bytes + test.out.bytes));
    subjects.back().input_bytes = test.in.bytes;
  }
}

}  // namespace cudavision::bench
