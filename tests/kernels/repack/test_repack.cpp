// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/repack/repack_case.h"

namespace cudavision::test {
namespace {

using repack::Repack;
using repack::StoredLayout;
using repack::UnpackedForm;
using repack::Words;

CUDAVISION_RANDOM_CASES(RepackCases, make_repack_case);

struct AlignedRows : Named {
  int width, height;
};

const AlignedRows aligned_rows[] = {
    {"OnePixel", 1, 1},           {"WithinAThread", 3, 2}, {"SomeThreads", 8, 1},
    {"AfterSomeThreads", 9, 3},   {"BeforeAWarp", 255, 2}, {"SomeBlocks", 2053, 4},
    {"SomeWholeBlocks", 4096, 3},
};

void align_rows(const FrameLayout& layout, Placement& placement) {
  placement = {};
  for (std::size_t p = 0; p < static_cast<std::size_t>(layout.plane_count); ++p) {
    const PlaneShape& plane = layout.planes[p];
    const std::ptrdiff_t pitch = (plane.row_bytes + 15) / 16 * 16;
    placement.planes[p] = {placement.bytes, pitch};
    placement.bytes += static_cast<std::size_t>(pitch * plane.rows + 16);
  }
}

RepackCase aligned_case(const AlignedRows& rows, const RepackParameters& conversion) {
  RepackCase test = plain_repack_case(rows.width, rows.height, conversion, Content::random,
                                      static_cast<std::uint64_t>(rows.width));
  test.title = "aligned rows";
  test.dirty = true;
  align_rows(test.layout, test.in);
  align_rows(test.out_layout, test.out);
  return test;
}

std::vector<RepackCase> cases_in(const AlignedRows& rows) {
  std::vector<RepackCase> cases;
  for (const auto& conversions : {all_conversions(), conversions_of(unusual_storage_kinds())})
    for (const RepackParameters& conversion : conversions)
      cases.push_back(aligned_case(rows, conversion));
  return cases;
}

CUDAVISION_TABLE_CASES(RepackAlignedRows, aligned_rows, cases_in);

CUDAVISION_ON_BOTH_DEVICES(RepackUse);

struct Refusal {
  const char* words;
  std::function<void(StoredLayout&)> spoil;
};

TEST_P(RepackUse, RefusesStoragesWithWords) {
  const std::pair<const char*, std::vector<Refusal>> refusals[] = {
      {"RGB10A2",
       {{"in one plane", [](StoredLayout& s) { s.frame.plane_count = 2; }},
        {"in one plane", [](StoredLayout& s) { s.frame.shift = 1; }},
        {"in one plane", [](StoredLayout& s) { s.frame.planes[0].row_bytes += 1; }},
        {"in one plane", [](StoredLayout& s) { s.frame.planes[0].rows += 1; }},
        {"one sample in each word", [](StoredLayout& s) { s.frame.channels[1].step = 2; }},
        {"one sample in each word", [](StoredLayout& s) { s.frame.channels[3].width -= 1; }},
        {"takes bits 0 to -1", [](StoredLayout& s) { s.depth[0] = 0; }},
        {"takes bits 0 to 10", [](StoredLayout& s) { s.depth[0] = 11; }},
        {"takes bits -1 to 8", [](StoredLayout& s) { s.low_bit[0] = -1; }},
        {"takes bits 31 to 32", [](StoredLayout& s) { s.low_bit[3] = 31; }},
        {"bits of another channel", [](StoredLayout& s) { s.low_bit[0] = 1; }},
        {"needs one luma", [](StoredLayout& s) { s.frame.channels[0].role = Role::luma; }},
        {"needs one luma", [](StoredLayout& s) { s.frame.channels[0].role = Role::green; }}}},
      {"GRAY16_BE",
       {{"must consist of the samples", [](StoredLayout& s) { s.frame.planes[0].row_bytes += 2; }},
        {"needs one luma", [](StoredLayout& s) { s.frame.channels[0].role = Role::chroma; }},
        {"read these frames directly", [](StoredLayout& s) { s.words = Words::native; }}}},
      {"I420_10BE",
       {{"must be as large as the picture",
         [](StoredLayout& s) {
           s.frame.channels[0].width -= 1;
           s.frame.planes[0].row_bytes -= 2;
         }}}},
      {"GBR_10", {{"read these frames directly", [](StoredLayout&) {}}}},
  };
  for (const auto& [name, list] : refusals)
    for (const Refusal& refusal : list) {
      StoredLayout storage = storage_named(name, 34, 10);
      refusal.spoil(storage);
      CUDAVISION_EXPECT_ERROR(Repack(device, storage, UnpackedForm::channels), invalid_argument,
                              refusal.words);
    }
}

TEST_P(RepackUse, RefusesToPackLuminanceAlone) {
  const RepackCase test =
      plain_repack_case(33, 9, {"GBR_10", UnpackedForm::luminance, false}, Content::random, 1);
  CaseFrames<RepackCase> frames(device, test);
  Repack repack(device, test.storage(), UnpackedForm::luminance);
  CUDAVISION_EXPECT_ERROR(repack.pack(frames.in, frames.out), invalid_argument,
                          "luminance alone cannot be packed");
}

/// If operations can read the stored frame directly, unpacking keeps its layout.
TEST(RepackLayout, IsThatOfTheStoredFrameWhereNothingIsNeeded) {
  const StoredLayout gray{gray_layout(33, 9, 16), Words::native, {}, {}};
  const StoredLayout rgb{layout_named("GBR", 33, 9), Words::native, {}, {}};
  for (const UnpackedForm form :
       {UnpackedForm::channels, UnpackedForm::luminance, UnpackedForm::adjustable_luminance})
    for (const StoredLayout& storage : {gray, rgb}) {
      EXPECT_FALSE(is_needed(storage, form));
      EXPECT_EQ(unpacked_layout(storage, form).plane_count, storage.frame.plane_count);
      EXPECT_EQ(unpacked_layout(storage, form).bits, storage.frame.bits);
    }
}

}  // namespace
}  // namespace cudavision::test
