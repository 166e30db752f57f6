// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/histequalize/histequalize_case.h"

#include <algorithm>

#include "tests/kernels/common/hash.h"

namespace cudavision::test {
namespace {

using Channels = histequalize::Parameters::Channels;

constexpr int histogram_margin = 64;

std::vector<std::uint32_t> poisoned_counts(const HistEqualizeCase& test, std::uint8_t poison) {
  const std::size_t count = static_cast<std::size_t>(test.histogram_start) +
                            (std::size_t{1} << test.layout.bits) + histogram_margin;
  return std::vector<std::uint32_t>(count, poison * 0x01010101u);
}

View<std::uint32_t> bins_in(const HistEqualizeCase& test, std::uint32_t* block) {
  const int bins = 1 << test.layout.bits;
  return {block + test.histogram_start, bins, 1, bins * std::ptrdiff_t{4}};
}

std::string difference_of_counts(const HistEqualizeCase& test, const char* what,
                                 const std::vector<std::uint32_t>& expected,
                                 const std::vector<std::uint32_t>& actual) {
  const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin());
  if (e == expected.end())
    return {};
  return std::string(what) + ": bin " +
         std::to_string(e - expected.begin() - test.histogram_start) + " of " +
         std::to_string(1 << test.layout.bits) + " must be " + std::to_string(*e) + " and is " +
         std::to_string(*a);
}

}  // namespace

void set_full_range(const FrameLayout& layout, histequalize::Parameters& parameters) {
  parameters.low = 0;
  parameters.high = (1 << layout.bits) - 1;
}

void draw_parameters(const FrameLayout& layout, int rarity, Random& random,
                     histequalize::Parameters& parameters) {
  set_full_range(layout, parameters);
  if (is_rgb(layout)) {
    parameters.channels = random.one_in(rarity) ? Channels::each : Channels::luminance;
  } else if (random.one_in(2)) {
    parameters.low = 16 << (layout.bits - 8);
    parameters.high = 235 << (layout.bits - 8);
    if (random.one_in(4)) {
      parameters.low = random.between(0, (1 << layout.bits) - 2);
      parameters.high = random.between(parameters.low + 1, (1 << layout.bits) - 1);
    }
  }
  constexpr int blends[] = {0, 1, 128, 255};
  if (random.one_in(2))
    parameters.blend = random.one_in(2) ? blends[random.between(0, 3)] : random.between(0, 256);
}

histequalize::Parameters other_than(const FrameLayout& layout,
                                    const histequalize::Parameters& parameters) {
  histequalize::Parameters other;
  set_full_range(layout, other);
  other.blend = parameters.blend == 77 ? 78 : 77;
  if (is_rgb(layout) && parameters.channels == Channels::luminance)
    other.channels = Channels::each;
  if (!is_rgb(layout) && parameters.high == other.high) {
    ++other.low;
    --other.high;
  }
  return other;
}

std::string describe(const histequalize::Parameters& parameters) {
  return std::string(parameters.channels == Channels::each ? "each channel" : "luminance") +
         ", range " + std::to_string(parameters.low) + " to " + std::to_string(parameters.high) +
         ", blend " + std::to_string(parameters.blend) +
         (parameters.copies_chroma ? "" : ", without chroma");
}

HistEqualizeCase make_histequalize_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<HistEqualizeCase>(number, max_pixels, random);
  draw_placements(test, random);
  draw_content(test, random);
  draw_parameters(test.layout, 2, random, test.parameters);
  test.parameters_later = random.one_in(3);
  test.histogram = !random.one_in(4);
  test.histogram_start = random.between(0, 9);
  return test;
}

HistEqualizeCase plain_histequalize_case(const FrameLayout& layout, Content content,
                                         std::uint64_t seed) {
  HistEqualizeCase test;
  make_dense(test, layout, layout, content, seed);
  set_full_range(layout, test.parameters);
  return test;
}

SmoothedSequence<HistEqualizeCase> make_smoothed_sequence(std::uint64_t seed, int number,
                                                          int max_pixels) {
  constexpr std::uint64_t own = 0x0e9a117e;
  constexpr int largest = 1 << 17;  // in pixels; limits the time of the definition
  Random random = random_of_case(seed ^ own, number);
  const HistEqualizeCase first =
      make_histequalize_case(seed ^ own, number, std::min(max_pixels, largest));
  return draw_sequence(
      first, 7, false, random, [](HistEqualizeCase&) {},
      [&](HistEqualizeCase& test) { test.histogram = random.one_in(2); });
}

std::string parameters_text(const HistEqualizeCase& test) {
  return describe(test.parameters) + (test.histogram ? "" : ", no histogram");
}

std::string describe(const HistEqualizeCase& test) {
  return describe(test, parameters_text(test));
}

void HistEqualizeCase::define(const ConstFrame& from, const Frame& to) const {
  defined_equalization(layout, parameters, from, to);
}

HistEqualizeBlocks defined_output(const HistEqualizeCase& test,
                                  const std::vector<std::uint8_t>& input, std::uint8_t poison) {
  HistEqualizeBlocks blocks;
  blocks.out.assign(test.out.bytes, poison);
  const ConstFrame in = frame_in(test.layout, test.in, input.data());
  test.define(in, frame_in(test.layout, test.out, blocks.out.data()));
  blocks.histogram = blocks.bins = poisoned_counts(test, poison);
  const auto counts = defined_histogram(test.layout, in);
  std::copy(counts.begin(), counts.end(), blocks.bins.begin() + test.histogram_start);
  if (test.histogram)
    blocks.histogram = blocks.bins;
  return blocks;
}

HistEqualizeBlocks defined_output(const HistEqualizeCase& test,
                                  const std::vector<std::uint8_t>& input, std::uint8_t poison,
                                  DefinedSmoothedEqualize& smoothing) {
  HistEqualizeBlocks blocks = defined_output(test, input, poison);
  smoothing.next(test.layout, test.parameters, *test.smoothing,
                 frame_in(test.layout, test.in, input.data()),
                 frame_in(test.layout, test.out, blocks.out.data()));
  return blocks;
}

std::string difference(const HistEqualizeCase& test, const HistEqualizeBlocks& expected,
                       const HistEqualizeBlocks& actual) {
  const FrameCase& frame = test;
  for (const std::string& text :
       {difference(frame, expected.out, actual.out),
        difference_of_counts(test, "histogram", expected.histogram, actual.histogram),
        difference_of_counts(test, "bins", expected.bins, actual.bins)})
    if (!text.empty())
      return text;
  return {};
}

std::string hash(const HistEqualizeCase& test, const HistEqualizeBlocks& blocks) {
  Hash hash;
  add_rows(hash, test.layout, test.out, blocks.out);
  for (const auto* counts : {&blocks.histogram, &blocks.bins})
    if (counts != &blocks.histogram || test.histogram)
      for (int bin = 0; bin < 1 << test.layout.bits; ++bin)
        hash.add_number((*counts)[test.histogram_start + bin]);
  return hash.text();
}

HistEqualizeFrames::HistEqualizeFrames(Device& device, const HistEqualizeCase& one,
                                       const std::vector<std::uint8_t>& input, std::uint8_t poison)
    : CaseFrames(device, one, input, poison),
      histogram_block_(device, poisoned_counts(one, poison)),
      bins_block_(device, poisoned_counts(one, poison)),
      histogram(one.histogram ? bins_in(one, histogram_block_.data()) : View<std::uint32_t>{}),
      bins(bins_in(one, bins_block_.data())) {}

void HistEqualizeFrames::run(HistEqualizeCase::Operation& operation) const {
  if (test.restart)
    operation.equalize.restart();
  operation.equalize.run(in, out, histogram, test.smoothing);
  operation.count.run(in, bins);
}

HistEqualizeBlocks HistEqualizeFrames::output() const {
  return {CaseFrames::output(), histogram_block_.values(), bins_block_.values()};
}

}  // namespace cudavision::test
