// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/regions/masks_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {
namespace {

MaskPicture random_mask(int width, int height, Random& random) {
  MaskPicture mask;
  mask.sample_bytes = random.one_in(3) ? 2 : 1;
  mask.width = std::min(random.log_uniform(random.one_in(4) ? 2 * width : 64), 65535);
  mask.height = std::min(random.log_uniform(random.one_in(4) ? 2 * height : 64), 65535);
  mask.pitch = mask.width * mask.sample_bytes + random.between(0, 9);
  mask.offset = random.between(0, 15);
  mask.bytes.assign(static_cast<std::size_t>(mask.offset + mask.pitch * mask.height), 0x77);

  // One id is usually rare, so that some pixels are far from the nearest pixel with this id.
  const int ids = mask.sample_bytes == 1 ? 256 : 65536;
  const int rare = random.between(0, ids - 1), common = (rare + 1 + random.between(0, 200)) % ids;
  const int rarity = random.one_in(6) ? 1 : random.log_uniform(2000);
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      const int id = random.one_in(rarity) ? rare
                     : random.one_in(50)   ? random.between(0, ids - 1)
                                           : common;
      const auto at =
          static_cast<std::size_t>(mask.offset + y * mask.pitch + x * mask.sample_bytes);
      mask.bytes[at] = static_cast<std::uint8_t>(id);
      if (mask.sample_bytes == 2)
        mask.bytes[at + 1] = static_cast<std::uint8_t>(id >> 8);
    }
  mask.ids.assign(static_cast<std::size_t>(ids) / 32, 0);
  mask.ids[static_cast<std::size_t>(rare / 32)] |= 1u << (rare % 32);
  if (random.one_in(8))
    std::fill(mask.ids.begin(), mask.ids.end(), 0x80000001u);

  const auto side = [&](int length) {
    return random.one_in(2)
               ? std::pair(0, length)
               : std::pair(random.between(-length, length), random.log_uniform(2 * length));
  };
  const auto [x, box_width] = side(width);
  const auto [y, box_height] = side(height);
  mask.box = {x, y, x + box_width, y + box_height};
  return mask;
}

}  // namespace

int MaskPicture::id(int column, int row) const {
  const auto at = static_cast<std::size_t>(offset + row * pitch + column * sample_bytes);
  return sample_bytes == 1 ? bytes[at] : bytes[at] + 256 * bytes[at + 1];
}

bool MaskPicture::selects(int x, int y) const {
  if (x < box.x0 || x >= box.x1 || y < box.y0 || y >= box.y1)
    return false;
  const auto sample = [](long long offset, long long length, long long samples) {
    return static_cast<int>((2 * offset + 1) * samples / (2 * length));
  };
  return selects_id(
      id(sample(x - box.x0, box.x1 - box.x0, width), sample(y - box.y0, box.y1 - box.y0, height)));
}

std::vector<MaskPicture> random_masks(int width, int height, int maximum, Random& random) {
  std::vector<MaskPicture> masks(static_cast<std::size_t>(random.log_uniform(maximum)));
  for (MaskPicture& mask : masks)
    mask = random_mask(width, height, random);
  return masks;
}

MasksCase make_masks_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  MasksCase test;
  const auto [width, height] = random_picture_size(random, std::min(max_pixels, 1 << 19));
  test.width = width;
  test.height = height;
  test.radius = random.one_in(4) ? 0 : random.one_in(4) ? 254 : random.log_uniform(254);
  test.masks = random_masks(width, height, random.one_in(8) ? 64 : 4, random);
  return test;
}

std::vector<std::uint8_t> defined_distances(const MasksCase& test) {
  const auto at = [&](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(test.width) +
           static_cast<std::size_t>(x);
  };
  std::vector<std::uint8_t> distances(at(0, test.height), 255);
  std::vector<std::pair<int, int>> edge;
  for (const MaskPicture& mask : test.masks)
    for (int y = std::max(mask.box.y0, 0); y < std::min(mask.box.y1, test.height); ++y)
      for (int x = std::max(mask.box.x0, 0); x < std::min(mask.box.x1, test.width); ++x)
        if (distances[at(x, y)] != 0 && mask.selects(x, y)) {
          distances[at(x, y)] = 0;
          edge.emplace_back(x, y);
        }
  for (int step = 1; step <= test.radius; ++step) {
    std::vector<std::pair<int, int>> next;
    for (const auto& [x, y] : edge)
      for (int b = std::max(y - 1, 0); b <= std::min(y + 1, test.height - 1); ++b)
        for (int a = std::max(x - 1, 0); a <= std::min(x + 1, test.width - 1); ++a)
          if (distances[at(a, b)] == 255) {
            distances[at(a, b)] = static_cast<std::uint8_t>(step);
            next.emplace_back(a, b);
          }
    edge = std::move(next);
  }
  return distances;
}

DeviceMasks::DeviceMasks(Device& device, const std::vector<MaskPicture>& pictures) {
  for (const MaskPicture& picture : pictures) {
    blocks_.push_back(std::make_unique<DeviceBlock<std::uint8_t>>(device, picture.bytes));
    masks.push_back({{blocks_.back()->data() + picture.offset, picture.width * picture.sample_bytes,
                      picture.height, picture.pitch},
                     picture.sample_bytes,
                     picture.box,
                     picture.ids.data()});
  }
}

std::vector<std::uint8_t> distances_of(Device& device, regions::MaskDistances& distances,
                                       const MasksCase& test) {
  const DeviceMasks masks(device, test.masks);
  distances.run(masks.masks, test.radius);
  std::vector<std::uint8_t> result(static_cast<std::size_t>(test.width) *
                                   static_cast<std::size_t>(test.height));
  device.download(distances.distances(), {result.data(), test.width, test.height, test.width});
  device.finish();
  return result;
}

std::vector<std::uint8_t> distances_of(Device& device, const MasksCase& test) {
  regions::MaskDistances distances(device, test.width, test.height);
  return distances_of(device, distances, test);
}

std::string describe(const MasksCase& test) {
  char text[200];
  std::snprintf(text, sizeof text, "%dx%d pixels, radius %d, %zu masks", test.width, test.height,
                test.radius, test.masks.size());
  std::string description = text;
  for (std::size_t i = 0; i < std::min<std::size_t>(test.masks.size(), 5); ++i) {
    const MaskPicture& mask = test.masks[i];
    std::snprintf(text, sizeof text, ", %dx%d samples of %d bytes in [%d,%d)x[%d,%d)", mask.width,
                  mask.height, mask.sample_bytes, mask.box.x0, mask.box.x1, mask.box.y0,
                  mask.box.y1);
    description += text;
  }
  return description;
}

}  // namespace cudavision::test
