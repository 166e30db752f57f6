// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/guided/guided_case.h"

#include <cstdio>

#include "tests/kernels/guided/guided_definition.h"

namespace cudavision::test {
namespace {

/// Draws a radius of at least 0, mostly small, often near 63.
int random_radius(Random& random) {
  constexpr int ends[] = {0, 1, 63, 64, 65534, 65535};
  return random.one_in(8)   ? ends[random.between(0, 5)]
         : random.one_in(6) ? random.between(60, 68)
         : random.one_in(6) ? random.log_uniform(65535)
                            : random.log_uniform(80);
}

/// Draws an epsilon from 0 to the maximum. It is dyadic, hence the same on every machine.
double random_epsilon(Random& random) {
  constexpr double ends[] = {0, 1.0 / 65536, 16383, 16383.5, 16384, 49151, 49152, 65025};
  return random.one_in(8) ? ends[random.between(0, 7)]
                          : random.log_uniform(65025 * 16) / (random.one_in(4) ? 1024.0 : 16.0);
}

}  // namespace

GuidedCase make_guided_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  auto test = random_frame_case<GuidedCase>(number, max_pixels, random);
  test.parameters = {random_radius(random), random_epsilon(random)};
  return drawn(test, random);
}

std::string describe(const GuidedCase& test) {
  char text[80];
  std::snprintf(text, sizeof text, "radius %d, epsilon %.10g", test.parameters.radius,
                test.parameters.epsilon);
  return describe(test, text);
}

void GuidedCase::define(const ConstFrame& from, const Frame& to) const {
  defined_guided(layout, parameters, from, to);
}

guided::Parameters GuidedCase::other_parameters() const {
  return {parameters.radius == 3 ? 5 : 3, parameters.epsilon == 99.5 ? 400 : 99.5};
}

}  // namespace cudavision::test
