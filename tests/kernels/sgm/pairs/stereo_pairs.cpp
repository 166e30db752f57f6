// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/sgm/pairs/stereo_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ostream>

#include "tests/kernels/common/frame_case.h"

namespace cudavision::test {
namespace {

int error_of(std::uint16_t number, std::uint16_t truth) {
  return std::abs(static_cast<std::int16_t>(number) - truth);
}

}  // namespace

void PrintTo(const Scene& scene, std::ostream* stream) {
  *stream << scene.name;
}

GrayPicture picture_of(const Scene& scene, const std::string& name) {
  return read_png(std::string(std::getenv("CUDAVISION_STEREO_PAIRS")) + "/" + scene.name + "/" +
                  name + ".png");
}

void add_noise(std::vector<std::uint8_t>& picture, double levels, Random& random) {
  for (std::uint8_t& level : picture) {
    int sum = 0;  // twelve uniform numbers, so the deviation is 2000
    for (int i = 0; i < 12; ++i)
      sum += random.between(-1000, 1000);
    level =
        static_cast<std::uint8_t>(std::clamp(std::lround(level + levels * sum / 2000), 0L, 255L));
  }
}

SgmCase case_of(const Scene& scene, const sgm::Parameters& parameters) {
  const GrayPicture left = picture_of(scene, "left");
  return plain_sgm_case(gray_layout(left.width, left.height, left.bits), parameters,
                        Content::random, 0);
}

SgmInput input_of(const Scene& scene, const SgmCase& test) {
  SgmInput input{picture_of(scene, "left").samples(), picture_of(scene, "right").samples()};
  // Dense placements begin at byte 0, and their block may be longer than the image.
  input.left.resize(test.left.bytes);
  input.right.resize(test.right.bytes);
  return input;
}

PairMaps matched(Device& device, const Scene& scene, const sgm::Parameters& parameters) {
  const SgmCase test = case_of(scene, parameters);
  return matched(device, test, input_of(scene, test));
}

PairMaps matched(Device& device, const SgmCase& test, const SgmInput& input) {
  const SgmOutput output = SgmRunner(device, test).run(input, 0xcd);
  const auto pixels = static_cast<std::size_t>(test.layout.width * test.layout.height);
  PairMaps maps{Map(pixels), output.confidence};
  std::memcpy(maps.disparities.data(), output.disparity.data(), 2 * pixels);
  maps.confidence.resize(pixels);
  return maps;
}

Score score_of(const Map& truth, const Map& map, const Map& filled, std::uint16_t invalid) {
  int count = 0, wrong = 0, wrong_by_half = 0, known = 0;
  long long error = 0;
  std::array<int, 3> off{};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == 0)
      continue;
    ++count;
    wrong += filled[i] == invalid || error_of(filled[i], truth[i]) > 16;
    wrong_by_half += filled[i] == invalid || error_of(filled[i], truth[i]) > 8;
    if (map[i] == invalid)
      continue;
    const int distance = error_of(map[i], truth[i]);
    ++known;
    error += distance;
    for (const int limit : {0, 1, 2})
      off[limit] += distance > 8 << limit;
  }
  const auto share = [&](int part) { return 1.0 * part / std::max(1, known); };
  return {1.0 * wrong / count,
          1.0 * wrong_by_half / count,
          1.0 * known / count,
          static_cast<double>(error) / 16 / std::max(1, known),
          {share(off[0]), share(off[1]), share(off[2])}};
}

Score score_of(Device& device, const Scene& scene, sgm::Parameters parameters, bool fills,
               double noise) {
  parameters.disparities = scene.disparities;
  SgmInput input = input_of(scene, case_of(scene, parameters));
  Random random(7);
  add_noise(input.left, noise, random);
  add_noise(input.right, noise, random);
  const Map holed = matched(device, case_of(scene, parameters), input).disparities;
  parameters.fill_holes = parameters.fill_holes || fills;
  const Map filled = fills ? matched(device, case_of(scene, parameters), input).disparities : holed;
  return score_of(picture_of(scene, "truth_x16").values, holed, filled,
                  disparity_scale(parameters).invalid);
}

std::string text_of(const Score& score) {
  char text[240];
  std::snprintf(text, sizeof text,
                "%.4f wrong or missing, %.4f by more than 0.5; before filling %.4f known, of these "
                "%.3f pixels off on "
                "average, %.4f more than 0.5, %.4f more than 1, %.4f more than 2",
                score.wrong_or_missing, score.wrong_by_half, score.known, score.mean_error,
                score.off[0], score.off[1], score.off[2]);
  return text;
}

double confidence_area(const Map& truth, const PairMaps& maps, std::uint16_t invalid) {
  std::array<double, 256> good{}, bad{};
  double all_good = 0, all_bad = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::uint16_t number = maps.disparities[i];
    if (truth[i] == 0 || number == invalid)
      continue;
    const bool is_good = error_of(number, truth[i]) <= 16;
    (is_good ? good : bad)[maps.confidence[i]] += 1;
    (is_good ? all_good : all_bad) += 1;
  }
  double pairs = 0, lower_bad = 0;
  for (std::size_t level = 0; level < good.size(); ++level) {
    pairs += good[level] * (lower_bad + bad[level] / 2);
    lower_bad += bad[level];
  }
  return pairs / (all_good * all_bad);
}

}  // namespace cudavision::test
