// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/pictures/noisypicture.h"

#include <random>

namespace check {

Picture noisy_picture(const FormatSpec& format, int width, int height, unsigned seed) {
  Picture picture = make_picture(format, width, height, Content::random, seed);
  std::mt19937 random(seed);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int place = 0; place < static_cast<int>(format.places.size()); ++place) {
        const int shape = ((x / 7 + y / 5) % 2) * 90 + x + place * 9;
        const int value = 40 + shape % 160 + static_cast<int>(random() % 17);
        picture.set_sample(place, x, y,
                           value << (format.bits - 8) | value % (1 << (format.bits - 8)));
      }
  return picture;
}

}  // namespace check
