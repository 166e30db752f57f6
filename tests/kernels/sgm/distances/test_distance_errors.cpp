// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Measures the errors of the distances of boxes, in rendered scenes and in real pairs. Prints the
// figures of docs/elements/stereo-detections.md.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "tests/kernels/common/gtest_support.h"
#include "tests/kernels/sgm/distances/distances_case.h"
#include "tests/kernels/sgm/pairs/stereo_pairs.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::test {
namespace {

using regions::Box;

constexpr int width = 640, height = 480;
constexpr double focal_length = 700, baseline = 120;

/// A rectangle of the left image, parallel to the image planes.
struct Surface {
  Box box;
  double distance;  ///< mm
  bool textured = true;

  double disparity() const { return focal_length * baseline / distance; }
};

/// Smooth noise that can be sampled between pixels. Different numbers give different noise.
double texture(int number, double x, double y) {
  double sum = 0;
  for (int octave = 0; octave < 3; ++octave) {
    const double u = x / (3 << octave), v = y / (3 << octave);
    const double left = std::floor(u), top = std::floor(v), fx = u - left, fy = v - top;
    const auto corner = [&](double i, double k) {
      const auto place = static_cast<std::uint64_t>((i + 5000) * 20000 + k + 5000);
      const auto key = 100 * place + static_cast<std::uint64_t>(3 * number + octave);
      return static_cast<double>(Random(key).next() >> 56);
    };
    sum += (corner(left, top) * (1 - fx) + corner(left + 1, top) * fx) * (1 - fy) +
           (corner(left, top + 1) * (1 - fx) + corner(left + 1, top + 1) * fx) * fy;
  }
  return sum / 3;
}

/// Renders a camera's image in row-major order. `side` is 0 for the left camera and 1 for the
/// right. Pixel x shows column x + side·disparity of the left image.
std::vector<std::uint8_t> rendered(const std::vector<Surface>& scene, int side) {
  std::vector<std::uint8_t> picture;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      std::size_t nearest = 0;
      for (std::size_t i = 1; i < scene.size(); ++i) {
        const double column = x + side * scene[i].disparity();
        const Box& box = scene[i].box;
        if (column > box.x0 - 0.5 && column < box.x1 - 0.5 && y >= box.y0 && y < box.y1 &&
            scene[i].distance < scene[nearest].distance)
          nearest = i;
      }
      const Surface& surface = scene[nearest];
      const double level =
          surface.textured ? texture(static_cast<int>(nearest), x + side * surface.disparity(), y)
                           : 128;
      picture.push_back(static_cast<std::uint8_t>(std::lround(level)));
    }
  return picture;
}

Map matched_scene(Device& device, const std::vector<Surface>& scene,
                  const sgm::Parameters& parameters) {
  SgmCase test = plain_sgm_case(gray_layout(width, height, 8), parameters, Content::random, 0);
  SgmInput input{rendered(scene, 0), rendered(scene, 1)};
  // The block of a case may be longer than the image.
  input.left.resize(test.left.bytes);
  input.right.resize(test.right.bytes);
  return matched(device, test, input).disparities;
}

std::vector<sgm::BoxDisparity> measured(Device& device, const Map& map, int columns, int rows,
                                        const sgm::Parameters& parameters,
                                        const std::vector<Box>& boxes) {
  DistancesCase test{columns, rows, parameters, gray_layout(columns, rows, 16), {}, map, boxes};
  test.placement = dense_placement(test.layout);
  return computed_disparities(device, test);
}

/// The relative errors of distances, in percent.
class Errors {
 public:
  /// `truth`: true disparity in sixteenths. Distances are inversely proportional to disparities.
  void add(const sgm::BoxDisparity& result, double truth) {
    known_ += static_cast<double>(result.known) / result.samples;
    if (result.known == 0)
      ++missed_;
    else
      errors_.push_back(100 * std::abs(truth / result.middle - 1));
  }

  double quantile(double share) {
    std::sort(errors_.begin(), errors_.end());
    return errors_.empty() ? 100
                           : errors_[static_cast<std::size_t>(
                                 share * static_cast<double>(errors_.size() - 1) + 0.5)];
  }
  void print(const char* name) {
    const std::size_t boxes = errors_.size() + static_cast<std::size_t>(missed_);
    std::printf(
        "%-32s %3zu boxes: median %.2f %%, 90th percentile %.2f %%, unknown %d, known %.2f\n", name,
        boxes, quantile(0.5), quantile(0.9), missed_, known_ / static_cast<double>(boxes));
  }
  int missed() const { return missed_; }

 private:
  std::vector<double> errors_;
  double known_ = 0;
  int missed_ = 0;
};

class DistanceErrors : public EitherDevice {};

INSTANTIATE_TEST_SUITE_P(Devices, DistanceErrors, both_devices(), device_name);

/// Adds an object to a scene, in some cases with a second object. Returns the box to measure, with
/// the true distance.
using MakeScene = std::function<Surface(Random& random, std::vector<Surface>& scene)>;

Surface random_object(Random& random, int least, int most) {
  const int w = random.between(least, most), h = random.between(least, most);
  const int x = random.between(100, width - w - 10), y = random.between(10, height - h - 10);
  return {{x, y, x + w, y + h}, static_cast<double>(random.between(1000, 8000))};
}

MakeScene object_of(int least, int most) {
  return [=](Random& random, std::vector<Surface>& scene) {
    return scene.emplace_back(random_object(random, least, most));
  };
}

/// Makes an object whose box has columns [x0, x1), which may be outside the image.
MakeScene object_at(int x0, int x1) {
  return [=](Random& random, std::vector<Surface>& scene) {
    Surface object = random_object(random, 60, 200);
    object.box.x0 = x0, object.box.x1 = x1;
    return scene.emplace_back(object);
  };
}

/// Makes an object, and a nearer object that hides a share of the first object's box.
MakeScene hidden_object(double share, bool expects_nearer) {
  return [=](Random& random, std::vector<Surface>& scene) {
    const Surface object = scene.emplace_back(random_object(random, 60, 200));
    Surface nearer{object.box, 0.7 * object.distance};
    nearer.box.x1 = object.box.x0 + static_cast<int>(share * (object.box.x1 - object.box.x0));
    scene.push_back(nearer);
    return expects_nearer ? Surface{object.box, nearer.distance} : object;
  };
}

// Each scene has a wall at a distance of 12 m, and an object at 1 to 8 m whose box is measured.
TEST_P(DistanceErrors, OfRenderedScenes) {
  CUDAVISION_NEEDS_PIXELS(width * height);
  struct Kind {
    const char* name;
    MakeScene make;
    double median, most;  ///< bounds of the errors, in percent
    int missed = 0;
    int speckles = 100;
  };
  // For small objects or objects without texture, the map may have the wall's disparity or none.
  constexpr double any = 1e9;
  const Kind kinds[] = {
      {"free", object_of(60, 200), 0.5, 1.5},
      {"fills 60 % of the box",
       [](Random& random, std::vector<Surface>& scene) {
         const Surface object = random_object(random, 60, 200);
         Surface& visible = scene.emplace_back(object);
         visible.box.x1 -= 2 * (object.box.x1 - object.box.x0) / 5;
         return object;
       },
       0.5, 1.5},
      {"a third hidden", hidden_object(0.33, false), 0.5, 1.5},
      {"half hidden, of what hides it", hidden_object(0.5, true), 0.5, 1.5},
      {"at the right edge", object_at(width - 60, width + 60), 0.5, 1.5},
      {"at the left edge", object_at(-60, 100), 0.5, 1.5, 4},
      {"16 to 30 pixels", object_of(16, 30), 0.5, 3},
      {"6 to 12 pixels", object_of(6, 12), any, any, 12},
      {"6 to 12 pixels, speckle-size=0", object_of(6, 12), 3, any, 2, 0},
      {"without texture",
       [](Random& random, std::vector<Surface>& scene) {
         Surface& object = scene.emplace_back(random_object(random, 60, 200));
         object.textured = false;
         return object;
       },
       any, any, 12},
  };
  for (const Kind& kind : kinds) {
    Errors errors;
    sgm::Parameters parameters;
    parameters.speckle_size = kind.speckles;
    Random random(settings().seed);
    for (int i = 0; i < 12; ++i) {
      std::vector<Surface> scene = {{{0, 0, width, height}, 12000}};
      const Surface object = kind.make(random, scene);
      const sgm::BoxDisparity result = measured(device, matched_scene(device, scene, parameters),
                                                width, height, parameters, {object.box})[0];
      errors.add(result, 16 * object.disparity());
    }
    errors.print(kind.name);
    EXPECT_LE(errors.quantile(0.5), kind.median) << kind.name;
    EXPECT_LE(errors.quantile(0.9), kind.most) << kind.name;
    EXPECT_LE(errors.missed(), kind.missed) << kind.name;
  }
}

// The true disparity of a box is the 70th percentile of the true disparities in its inner half.
TEST_P(DistanceErrors, OfRealPairs) {
  CUDAVISION_NEEDS_PAIRS();
  Errors all;
  for (const Scene& scene : scenes) {
    sgm::Parameters parameters;
    parameters.disparities = scene.disparities;
    const Map map = matched(device, scene, parameters).disparities;
    const GrayPicture truth = picture_of(scene, "truth_x16");
    Map true_map(truth.values.begin(), truth.values.end());
    std::replace(true_map.begin(), true_map.end(), std::uint16_t{0},
                 sgm::disparity_scale(parameters).invalid);
    Random random(settings().seed);
    std::vector<Box> boxes;
    for (int i = 0; i < sgm::Distances::max_boxes; ++i) {
      const int w = random.between(20, 150), h = random.between(20, 150);
      const int x = random.between(0, truth.width - w), y = random.between(0, truth.height - h);
      boxes.push_back({x, y, x + w, y + h});
    }
    const auto results = measured(device, map, truth.width, truth.height, parameters, boxes);
    const auto truths = measured(device, true_map, truth.width, truth.height, parameters, boxes);
    Errors errors;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (2 * truths[i].known < truths[i].samples)
        continue;
      errors.add(results[i], truths[i].middle);
      all.add(results[i], truths[i].middle);
    }
    errors.print(scene.name);
  }
  all.print("all pairs");
  EXPECT_LE(all.quantile(0.5), 1);
  EXPECT_LE(all.quantile(0.9), 5);
}

}  // namespace
}  // namespace cudavision::test
