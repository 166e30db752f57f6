// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Compares every byte of repacked frames: on the CPU device with the definition, and on the CUDA
// device with the CPU device.

#include "cuda/repack/fields.h"
#include "tests/kernels/common/case_suites.h"
#include "tests/kernels/repack/repack_case.h"

namespace cudavision::test {
namespace {

using repack::Repack;
using repack::StoredLayout;
using repack::UnpackedForm;
using repack::Words;

CUDAVISION_RANDOM_CASES(RepackCases, make_repack_case);

/// Rows that end within a block of threads, with it, and after it.
std::vector<RepackCase> cases_at(const Seam& seam) {
  std::vector<RepackCase> cases;
  for (const RepackParameters& conversion : all_conversions())
    cases.push_back(plain_repack_case(seam.width, 3, conversion, Content::random,
                                      static_cast<std::uint64_t>(seam.width)));
  return cases;
}

CUDAVISION_TABLE_CASES(RepackSeams, seams, cases_at);

struct Shape {
  const char* name;
  int width, height;
  Content content;
};

void PrintTo(const Shape& shape, std::ostream* stream) {
  *stream << shape.width << "×" << shape.height;
}

const Shape shapes[] = {
    {"OnePixel", 1, 1, Content::random},      {"OneRow", 65535, 1, Content::random},
    {"OneColumn", 1, 65535, Content::random}, {"Zeros", 77, 31, Content::zeros},
    {"Maximum", 77, 31, Content::maximum},    {"FullHd", 1920, 1080, Content::natural},
};

std::vector<RepackCase> cases_of(const Shape& shape) {
  std::vector<RepackCase> cases;
  for (const RepackParameters& conversion : all_conversions())
    cases.push_back(plain_repack_case(shape.width, shape.height, conversion, shape.content, 77));
  return cases;
}

CUDAVISION_TABLE_CASES(RepackShapes, shapes, cases_of);

class RepackUse : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, RepackUse, both_devices(), device_name);

/// Bits of a word that belong to no sample are not kept.
TEST_P(RepackUse, GivesBackTheFrame) {
  on_device([](Device& device) {
    for (const char* name : {"RGB10A2", "BGR10A2", "GRAY16_BE", "ARGB64_BE", "GBR_16", "RGBA64"})
      for (const UnpackedForm form : {UnpackedForm::channels, UnpackedForm::adjustable_luminance}) {
        const RepackCase unpacks =
            plain_repack_case(301, 57, {name, form, false}, Content::random, 5);
        if (!is_needed(unpacks.storage(), form))
          continue;
        SCOPED_TRACE(describe(unpacks));
        const RepackCase packs = plain_repack_case(301, 57, {name, form, true}, Content::random, 5);
        const auto input = input_block(unpacks);
        const auto unpacked = Runner<RepackCase>(device, unpacks).run(input, poison);
        // The input block has this byte around its rows.
        const auto packed = Runner<RepackCase>(device, packs).run(unpacked, 0x5a);
        EXPECT_EQ(difference(packs.out_layout, packs.out, input, packed), "");
      }
  });
}

/// A storage, and words that the error must contain.
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
        {"either one luma", [](StoredLayout& s) { s.frame.channels[0].role = Role::luma; }},
        {"either one luma", [](StoredLayout& s) { s.frame.channels[0].role = Role::green; }}}},
      {"GRAY16_BE",
       {{"belong to no sample", [](StoredLayout& s) { s.frame.planes[0].row_bytes += 2; }},
        {"either one luma", [](StoredLayout& s) { s.frame.channels[0].role = Role::chroma; }},
        {"read such frames themselves", [](StoredLayout& s) { s.words = Words::native; }}}},
      {"I420_10BE",
       {{"not as large as the picture",
         [](StoredLayout& s) {
           s.frame.channels[0].width -= 1;
           s.frame.planes[0].row_bytes -= 2;
         }}}},
      {"GBR_10", {{"read such frames themselves", [](StoredLayout&) {}}}},
  };
  on_device([&](Device& device) {
    for (const auto& [name, list] : refusals)
      for (const Refusal& refusal : list) {
        StoredLayout storage = storage_named(name, 34, 10);
        refusal.spoil(storage);
        CUDAVISION_EXPECT_ERROR(Repack(device, storage, UnpackedForm::channels), invalid_argument,
                                refusal.words);
      }
  });
}

TEST_P(RepackUse, RefusesToPackLuminanceAlone) {
  on_device([](Device& device) {
    const RepackCase test =
        plain_repack_case(33, 9, {"GBR_10", UnpackedForm::luminance, false}, Content::random, 1);
    CaseFrames<RepackCase> frames(device, test);
    Repack repack(device, test.storage(), UnpackedForm::luminance);
    CUDAVISION_EXPECT_ERROR(repack.pack(frames.in, frames.out), invalid_argument,
                            "luminance alone cannot be packed");
  });
}

/// A frame that operations read themselves keeps its layout.
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

/// The weighted sum has 26 bits. Each weight is tried with all samples, the others at their ends.
TEST(RepackArithmetic, LuminanceIsExactForAllDepths) {
  for (std::uint32_t value = 0; value < 65536; ++value)
    for (const std::uint32_t low : {0u, 1u, 65534u, 65535u})
      for (const std::uint32_t high : {0u, 511u, 65535u}) {
        const auto expected = [](std::uint64_t r, std::uint64_t g, std::uint64_t b) {
          return (299 * r + 587 * g + 114 * b) / 1000;
        };
        ASSERT_EQ(repack::deep_luminance(value, low, high), expected(value, low, high));
        ASSERT_EQ(repack::deep_luminance(low, value, high), expected(low, value, high));
        ASSERT_EQ(repack::deep_luminance(low, high, value), expected(low, high, value));
      }
}

/// Every depth comes back from every larger one.
TEST(RepackArithmetic, RescalingGivesBackEveryValue) {
  for (int depth = 1; depth <= 16; ++depth)
    for (int bits = std::max(depth, 9); bits <= 16; ++bits) {
      const std::uint32_t maximum = (1u << depth) - 1, largest = (1u << bits) - 1;
      for (std::uint32_t value = 0; value <= maximum; ++value) {
        const std::uint32_t wide = repack::rescaled(value, maximum, largest);
        ASSERT_LE(wide, largest);
        ASSERT_EQ(repack::rescaled(wide, largest, maximum), value) << depth << " of " << bits;
      }
    }
}

}  // namespace
}  // namespace cudavision::test
