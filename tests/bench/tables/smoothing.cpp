// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/bench/subject.h"
#include "tests/kernels/guided/guided_case.h"
#include "tests/kernels/nlmeans/nlmeans_case.h"

namespace cudavision::bench {
namespace {

constexpr Entry<guided::Parameters> guided_filters[] = {
    {"GRAY8", uhd, {2, 100}, cuda, 45}, {"GRAY8", hd, {8, 100}, both},
    {"GRAY8", uhd, {8, 100}, cuda, 45}, {"GRAY8", uhd, {16, 100}, cuda},
    {"GRAY8", hd, {50, 100}, cpu},      {"GRAY8", uhd, {50, 100}, cuda},
    {"GRAY8", uhd, {100, 100}, cuda},   {"GRAY8", uhd, {500, 100}, cuda},
    {"NV12", hd, {8, 100}, both},       {"NV12", uhd, {8, 100}, cuda},
    {"RGBA", hd, {8, 100}, cuda},       {"RGB", uhd, {8, 100}, cuda},
    {"GRAY16", hd, {8, 100}, cpu},      {"GRAY16", uhd, {8, 100}, cuda},
};

nlmeans::Parameters several_frames(int frames) {
  return test::with_frames({21, 7, 10}, frames);
}

const Entry<nlmeans::Parameters> denoisings[] = {
    {"GRAY8", vga, {21, 7, 10}, cpu | opencv},
    {"GRAY8", hd, {21, 7, 10}, both, 500},
    {"GRAY8", hd, {21, 5, 10}, cuda},
    {"GRAY8", hd, {35, 7, 10}, cuda},
    {"GRAY8", hd, {21, 9, 10}, cuda, 900},
    {"GRAY8", uhd, {21, 7, 10}, cuda},
    {"NV12", hd, {21, 7, 10}, cuda, 700},
    {"RGB", vga, {21, 7, 10}, both},
    {"GRAY16", vga, {21, 7, 10}, cpu},
    {"GRAY16", hd, {21, 7, 10}, cuda, 1400},
    {"GRAY8", hd, several_frames(3), cuda, 1227},
    {"GRAY8", hd, several_frames(5), cuda},
    {"NV12", hd, several_frames(3), cuda},
};

std::string denoising_name(const nlmeans::Parameters& parameters) {
  const auto square = [](int side) { return std::to_string(side) + "x" + std::to_string(side); };
  std::string name = "denoise " + square(parameters.search) + " " + square(parameters.patch);
  if (parameters.frames > 1)
    name += " frames " + std::to_string(parameters.frames);
  return name;
}

}  // namespace

void add_guided(Subjects& subjects) {
  add_table(
      subjects, guided_filters,
      [](const guided::Parameters& filter) {
        return "guided radius " + std::to_string(filter.radius);
      },
      test::plain_guided_case);
}

void add_nlmeans(Subjects& subjects) {
  add_table(subjects, denoisings, denoising_name, test::plain_nlmeans_case);
}

}  // namespace cudavision::bench
