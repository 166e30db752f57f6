// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/denoise/film.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/scenecut/scenecut_definition.h"

namespace check {
namespace {

const Denoising usual = denoising(60, 5, 3);

}  // namespace

std::vector<Picture> film(const char* name, int frames, int level, unsigned seed,
                          const Size& size) {
  const FormatSpec& format = format_named(name);
  const int unit = format.bits == 16 ? 256 : 1;
  std::mt19937 random(seed);
  const auto noise = [&](int range) {
    return static_cast<int>(random() % static_cast<unsigned>(range));
  };
  std::vector<Picture> pictures;
  for (int i = 0; i < frames; ++i)
    pictures.push_back(picture_with(format, size.width, size.height, [&](int place, int x, int y) {
      return (level + ((x + i) / 6 + y / 5) % 2 * 50 + place * 7) * unit + noise(17 * unit);
    }));
  return pictures;
}

bool begins_scene(const Picture& before, const Picture& frame) {
  const FormatSpec& format = *frame.format;
  std::map<int, int> change;
  const auto count = [&](const Picture& picture, int by) {
    const Picture luminance = luminance_picture(picture);
    const bool by_green = format.family == Family::rgb && format.bits > 8;
    for (int y = 0; y < picture.height; ++y)
      for (int x = 0; x < picture.width; ++x) {
        const int value = by_green ? picture.sample(1, x, y) : luminance.sample(0, x, y);
        change[format.bits == 16 ? value >> 8 : value] += by;
      }
  };
  count(frame, 1);
  count(before, -1);
  int moved = 0;  // twice the number of pixels that changed bins
  for (const auto& [value, difference] : change)
    moved += std::abs(difference);
  cudavision::test::DefinedAreas areas;
  const Picture last = native(before), current = native(frame);
  areas.change(layout_of(last), frame_of(last));
  return areas.change(layout_of(current), frame_of(current)) > 65536 / 4 ||
         2 * moved > frame.width * frame.height;
}

std::vector<Picture> neighbours_of(const std::vector<Picture>& pictures, int i, int frames,
                                   int first, int end) {
  std::vector<Picture> neighbours;
  for (int other = std::max(first, i - frames / 2); other < std::min(end, i + frames / 2 + 1);
       ++other)
    if (other != i)
      neighbours.push_back(native(pictures[other]));
  return neighbours;
}

Picture expected(const std::vector<Picture>& pictures, int i, int frames, int first, int end) {
  return denoised(pictures[i], usual, neighbours_of(pictures, i, frames, first, end));
}

Film::Film(int frames, const char* format, const Properties& more, const Size& size)
    : filter("cudadenoise",
             joined(joined(usual.properties(), {{"frames", std::to_string(frames)}}), more)) {
  filter.accept_caps(format_named(format), size.width, size.height);
}

void Film::push(const std::vector<Picture>& pictures, int first, int end) {
  for (int i = first; i < end; ++i)
    fail_unless_equals_int(push(pictures[i]), GST_FLOW_OK);
}

void Film::expect(const Picture& picture, const std::string& what) {
  const Owned<GstBuffer> out = filter.pull();
  fail_unless(out, "%s: there is no output", what.c_str());
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), pulled_ * frame_time);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out), frame_time);
  ++pulled_;
  expect_picture(from_buffer(out, *picture.format, picture.width, picture.height), picture, what);
}

void Film::expect(const std::vector<Picture>& pictures, int frames, int first, int end) {
  for (int i = first; i < end; ++i)
    expect(expected(pictures, i, frames, first, end), "frame " + std::to_string(i));
}

void Film::expect_missing() {
  const Owned<GstBuffer> out = filter.pull();
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), pulled_++ * frame_time);
  fail_unless_equals_int(static_cast<int>(gst_buffer_get_size(out)), 0);
}

}  // namespace check
