// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/distances/distances_case.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tests/kernels/common/device_block.h"
#include "tests/kernels/common/hash.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using regions::Box;

/// Draws map values around a centre, with a random spread. Some or all are invalid or out of range.
std::vector<std::uint16_t> random_numbers(int count, const sgm::Parameters& parameters,
                                          Random& random) {
  const sgm::DisparityScale scale = sgm::disparity_scale(parameters);
  const int first = scale.per_pixel * parameters.minimum;
  const int top = scale.per_pixel * (parameters.disparities - 1);
  const int center = random.between(0, top), spread = random.log_uniform(top + 1);
  const int unknown = random.one_in(8) ? 1 : random.between(2, 40);
  const bool any = random.one_in(10);
  std::vector<std::uint16_t> numbers;
  for (int i = 0; i < count; ++i) {
    const int place = std::clamp(center + random.between(-spread, spread), 0, top);
    numbers.push_back(random.one_in(unknown) ? scale.invalid
                      : any                  ? static_cast<std::uint16_t>(random.next())
                                             : static_cast<std::uint16_t>(first + place));
  }
  return numbers;
}

Box random_box(int width, int height, Random& random) {
  constexpr int smallest = std::numeric_limits<int>::min(),
                largest = std::numeric_limits<int>::max();
  switch (random.between(0, 9)) {
    case 0:
      return {smallest, smallest, largest, largest};
    case 1:
      return {random.between(smallest, largest), random.between(smallest, largest),
              random.between(smallest, largest), random.between(smallest, largest)};
    case 2:
      return {0, 0, width, height};
    default: {
      const int x = random.between(-width / 4, width), y = random.between(-height / 4, height);
      return {x, y, x + random.log_uniform(width) - random.between(0, 1),
              y + random.log_uniform(height) - random.between(0, 1)};
    }
  }
}

/// Returns true if the mask selects map pixel (x, y). A rectifying map moves the position.
bool selects(const DistancesCase& test, const MaskPicture& mask, int x, int y) {
  if (!test.rectifying)
    return mask.selects(x, y);
  const auto at = static_cast<std::size_t>(y * test.width + x);
  const int fractions = test.rectifying->fractions[at];
  const int mx = 32 * test.rectifying->places[2 * at] + fractions % 32;
  const int my = 32 * test.rectifying->places[2 * at + 1] + fractions / 32 % 32;
  return mx >= 0 && my >= 0 && mx <= 32 * (test.width - 1) && my <= 32 * (test.height - 1) &&
         mask.selects((mx + 16) / 32, (my + 16) / 32);
}

}  // namespace

DistancesCase make_distances_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  DistancesCase test;
  std::tie(test.width, test.height) = random_picture_size(random, max_pixels);
  test.parameters = random_search(random);
  test.layout = gray_layout(test.width, test.height, 16);
  test.placement = random_placement(test.layout, random);
  test.numbers = random_numbers(test.width * test.height, test.parameters, random);
  const int count = random.log_uniform(sgm::Distances::max_boxes);
  for (int i = 0; i < count; ++i)
    test.boxes.push_back(random_box(test.width, test.height, random));
  return test;
}

DistancesCase make_masked_distances_case(std::uint64_t seed, int number, int max_pixels) {
  DistancesCase test = make_distances_case(seed, number, max_pixels);
  Random random = random_of_case(seed + 1, number);
  test.boxes.resize(std::min<std::size_t>(test.boxes.size(), 16));
  for (std::size_t i = 0; i < test.boxes.size(); ++i) {
    MaskPicture& mask =
        test.masks.emplace_back(random_masks(test.width, test.height, 1, random)[0]);
    if (random.one_in(6))
      mask.ids.clear();
    const Box visible = clipped(test.boxes[i], test.width, test.height);
    if (!visible.empty() && random.one_in(2))
      mask.box = visible;
    if (random.one_in(2))  // let the mask select most samples, not few
      for (std::uint32_t& word : mask.ids)
        word = ~word;
  }
  if (std::max(test.width, test.height) <= remap::largest_picture && random.one_in(2)) {
    const auto kind = static_cast<MapKind>(random.between(0, map_kind_count - 1));
    test.rectifying.emplace(MapParameters{kind, random.next(), 0, 0}, test.width, test.height);
  }
  return test;
}

std::string describe(const DistancesCase& test) {
  return std::to_string(test.boxes.size()) + " boxes in " + describe(test.layout, test.placement) +
         ", " + describe(test.parameters);
}

sgm::BoxDisparity defined_disparity(const DistancesCase& test, const Box& box,
                                    const MaskPicture* mask) {
  const sgm::DisparityScale scale = sgm::disparity_scale(test.parameters);
  sgm::BoxDisparity result{0, 0, scale.invalid, scale.invalid, scale.invalid, 0};
  const int x0 = std::max(box.x0, 0), x1 = std::min(box.x1, test.width);
  const int y0 = std::max(box.y0, 0), y1 = std::min(box.y1, test.height);
  if (x0 >= x1 || y0 >= y1)
    return result;
  std::vector<int> known;
  const auto sample = [&](int left, int right, int top, int bottom) {
    const int column_step = (right - left + 255) / 256, row_step = (bottom - top + 255) / 256;
    for (int y = top; y < bottom; y += row_step)
      for (int x = left; x < right; x += column_step) {
        if (mask && !selects(test, *mask, x, y))
          continue;
        ++result.samples;
        const int value =
            static_cast<std::int16_t>(test.numbers[static_cast<std::size_t>(y * test.width + x)]);
        if (value >= scale.per_pixel * test.parameters.minimum &&
            value <= scale.per_pixel * (test.parameters.minimum + test.parameters.disparities - 1))
          known.push_back(value);
      }
  };
  if (mask)
    sample(x0, x1, y0, y1);
  result.masked = result.samples > 0;
  if (!result.masked) {
    mask = nullptr;
    const int width = (x1 - x0) / 4, height = (y1 - y0) / 4;
    sample(x0 + width, x1 - width, y0 + height, y1 - height);
  }
  result.known = static_cast<std::uint32_t>(known.size());
  if (known.empty())
    return result;
  std::sort(known.begin(), known.end());
  const auto percentile = [&](std::size_t percent) {
    return static_cast<std::uint16_t>(known[(percent * known.size() + 99) / 100 - 1]);
  };
  result.low = percentile(10);
  result.middle = percentile(70);
  result.high = percentile(90);
  return result;
}

std::vector<sgm::BoxDisparity> computed_disparities(Device& device, const DistancesCase& test) {
  std::vector<std::uint8_t> block(test.placement.bytes, 0x11);
  put_rows(test.numbers, frame_in(test.layout, test.placement, block.data()).planes[0]);
  const DeviceBlock<std::uint8_t> map(device, block);
  const std::size_t bytes = test.boxes.size() * sizeof(sgm::BoxDisparity);
  const Buffer results = device.allocate_host(bytes);
  std::fill_n(results.as<std::uint8_t>(), bytes, 0xcd);
  DeviceMasks masks(device, test.masks);
  for (std::size_t i = 0; i < masks.masks.size(); ++i)
    if (!test.mask_of(i))
      masks.masks[i] = {};
  std::optional<remap::Remap> rectifier;
  if (test.rectifying)
    rectifier.emplace(device, PlaneSize{test.width, test.height}, test.rectifying->view());
  sgm::Distances distances(device, test.width, test.height, test.parameters);
  distances.run(frame_in(test.layout, test.placement, map.data()).planes[0], test.boxes,
                results.as<sgm::BoxDisparity>(), masks.masks,
                rectifier ? rectifier->map() : remap::MapView{});
  device.finish();
  if (map.values() != block)
    throw std::runtime_error("the operation wrote to the map");
  const auto* const first = results.as<sgm::BoxDisparity>();
  return {first, first + test.boxes.size()};
}

std::string distances_hash(const std::vector<sgm::BoxDisparity>& results) {
  Hash hash;
  for (const sgm::BoxDisparity& result : results) {
    hash.add_number(result.samples);
    hash.add_number(result.known);
    for (std::uint16_t number : {result.low, result.middle, result.high, result.masked})
      hash.add_number(number);
  }
  return hash.text();
}

}  // namespace cudavision::test
