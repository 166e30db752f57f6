// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/kernels/repack/repack_case.h"

#include <stdexcept>

#include "tests/kernels/repack/repack_definition.h"

namespace cudavision::test {
namespace {

using repack::StoredLayout;
using repack::UnpackedForm;
using repack::Words;

constexpr Role luma_and_chroma[] = {Role::luma, Role::chroma, Role::chroma};

FrameLayout empty(int width, int height, int bits, int shift) {
  return {.width = width, .height = height, .bits = bits, .shift = shift};
}

void add_channel(FrameLayout& layout, Role role, int plane, int offset, int step,
                 int subsampling = 1) {
  layout.channels[layout.channel_count++] = {role,
                                             plane,
                                             offset,
                                             step,
                                             (layout.width + subsampling - 1) / subsampling,
                                             (layout.height + subsampling - 1) / subsampling,
                                             subsampling,
                                             subsampling};
}

int add_plane(FrameLayout& layout, int row_words, int rows) {
  layout.planes[layout.plane_count] = {2 * row_words, rows};
  return layout.plane_count++;
}

StoredLayout planar_rgb(int width, int height, int bits, Words words = Words::native) {
  StoredLayout storage{empty(width, height, bits, 0), words, {}, {}};
  // The channels are in the order of the components, not of the planes.
  for (const auto& [role, plane] :
       {std::pair(Role::red, 2), std::pair(Role::green, 0), std::pair(Role::blue, 1)})
    add_channel(storage.frame, role, plane, 0, 1);
  for (int p = 0; p < 3; ++p)
    add_plane(storage.frame, width, height);
  return storage;
}

StoredLayout interleaved_rgba(int width, int height, int first_colour, int alpha, Words words) {
  StoredLayout storage{empty(width, height, 16, 0), words, {}, {}};
  const int plane = add_plane(storage.frame, 4 * width, height);
  for (int c = 0; c < 3; ++c)
    add_channel(storage.frame, rgb_roles[c], plane, first_colour + c, 4);
  add_channel(storage.frame, Role::alpha, plane, alpha, 4);
  return storage;
}

StoredLayout swapped_gray(int width, int height, int bits, int shift) {
  return {gray_layout(width, height, bits, shift), Words::swapped, {}, {}};
}

StoredLayout swapped_planar_420(int width, int height) {
  StoredLayout storage{empty(width, height, 10, 0), Words::swapped, {}, {}};
  for (int c = 0; c < 3; ++c) {
    add_channel(storage.frame, luma_and_chroma[c], c, 0, 1, c == 0 ? 1 : 2);
    const Channel& channel = storage.frame.channels[c];
    add_plane(storage.frame, channel.width, channel.height);
  }
  return storage;
}

StoredLayout swapped_semiplanar_420(int width, int height) {
  StoredLayout storage{empty(width, height, 10, 6), Words::swapped, {}, {}};
  add_channel(storage.frame, Role::luma, add_plane(storage.frame, width, height), 0, 1);
  const int plane = add_plane(storage.frame, 2 * ((width + 1) / 2), (height + 1) / 2);
  for (int c = 0; c < 2; ++c)
    add_channel(storage.frame, Role::chroma, plane, c, 2, 2);
  return storage;
}

StoredLayout interleaved_rgb(int width, int height, Words words) {
  StoredLayout storage{empty(width, height, 16, 0), words, {}, {}};
  const int plane = add_plane(storage.frame, 3 * width, height);
  for (int c = 0; c < 3; ++c)
    add_channel(storage.frame, rgb_roles[c], plane, c, 3);
  return storage;
}

StoredLayout swapped_planar_rgba(int width, int height) {
  StoredLayout storage = planar_rgb(width, height, 10, Words::swapped);
  add_channel(storage.frame, Role::alpha, add_plane(storage.frame, width, height), 0, 1);
  return storage;
}

/// Luma and chroma samples alternate; each chroma channel has half as many samples as luma.
StoredLayout swapped_packed_422(int width, int height) {
  StoredLayout storage{empty(width, height, 10, 6), Words::swapped, {}, {}};
  const int pairs = (width + 1) / 2;
  add_plane(storage.frame, 4 * pairs, height);
  for (int c = 0; c < 3; ++c) {
    add_channel(storage.frame, luma_and_chroma[c], 0, c, c == 0 ? 2 : 4);
    Channel& channel = storage.frame.channels[c];
    if (c > 0) {
      channel.offset = 2 * c - 1;
      channel.width = pairs;
      channel.subsampling_x = 2;
    }
  }
  return storage;
}

/// The channels are red, green, blue and, if there is a fourth depth, alpha.
StoredLayout packed_rgb(int width, int height, std::array<int, 4> low_bit,
                        std::array<int, 4> depth) {
  StoredLayout storage{empty(width, height, 10, 0), Words::packed, low_bit, depth};
  add_plane(storage.frame, 2 * width, height);
  for (const Role role : rgb_roles)
    add_channel(storage.frame, role, 0, 0, 1);
  if (depth[3] > 0)
    add_channel(storage.frame, Role::alpha, 0, 0, 1);
  return storage;
}

const char* name(UnpackedForm form) {
  constexpr const char* names[] = {"channels", "luminance", "adjustable luminance"};
  return names[static_cast<int>(form)];
}

void set_layouts(RepackCase& test, int width, int height) {
  const StoredLayout storage = storage_named(test.parameters.storage, width, height);
  const FrameLayout unpacked = unpacked_layout(storage, test.parameters.form);
  test.layout = test.parameters.packs ? unpacked : storage.frame;
  test.out_layout = test.parameters.packs ? storage.frame : unpacked;
}

}  // namespace

const std::vector<StorageKind>& storage_kinds() {
  static const std::vector<StorageKind> kinds = {
      {"RGB10A2",
       [](int w, int h) {
         return packed_rgb(w, h, {0, 10, 20, 30}, {10, 10, 10, 2});
       }},
      {"BGR10A2",
       [](int w, int h) {
         return packed_rgb(w, h, {20, 10, 0, 30}, {10, 10, 10, 2});
       }},
      {"Uneven",
       [](int w, int h) {
         return packed_rgb(w, h, {23, 12, 3, 0}, {9, 10, 7, 0});
       }},
      {"GRAY16_BE", [](int w, int h) { return swapped_gray(w, h, 16, 0); }},
      {"GRAY12_BE", [](int w, int h) { return swapped_gray(w, h, 12, 3); }},
      {"I420_10BE", swapped_planar_420},
      {"P010_10BE", swapped_semiplanar_420},
      {"GBR_10BE", [](int w, int h) { return planar_rgb(w, h, 10, Words::swapped); }},
      {"ARGB64_BE", [](int w, int h) { return interleaved_rgba(w, h, 1, 0, Words::swapped); }},
      {"GBR_10", [](int w, int h) { return planar_rgb(w, h, 10); }},
      {"GBR_12", [](int w, int h) { return planar_rgb(w, h, 12); }},
      {"GBR_16", [](int w, int h) { return planar_rgb(w, h, 16); }},
      {"ARGB64", [](int w, int h) { return interleaved_rgba(w, h, 1, 0, Words::native); }},
      {"RGBA64", [](int w, int h) { return interleaved_rgba(w, h, 0, 3, Words::native); }},
  };
  return kinds;
}

const std::vector<StorageKind>& unusual_storage_kinds() {
  static const std::vector<StorageKind> kinds = {
      {"RGB48", [](int w, int h) { return interleaved_rgb(w, h, Words::native); }},
      {"RGB48_BE", [](int w, int h) { return interleaved_rgb(w, h, Words::swapped); }},
      {"GBRA_10BE", swapped_planar_rgba},
      // Rows of Y210_BE hold whole pairs of pixels, so the width is even.
      {"Y210_BE", [](int w, int h) { return swapped_packed_422(w + w % 2, h); }},
  };
  return kinds;
}

StoredLayout storage_named(const std::string& name, int width, int height) {
  for (const std::vector<StorageKind>& kinds : {storage_kinds(), unusual_storage_kinds()})
    for (const StorageKind& kind : kinds)
      if (kind.name == name)
        return kind.make(width, height);
  throw std::invalid_argument("the tests have no storage named " + name);
}

std::vector<RepackParameters> conversions_of(const std::vector<StorageKind>& kinds) {
  std::vector<RepackParameters> all;
  for (const StorageKind& kind : kinds)
    for (const UnpackedForm form :
         {UnpackedForm::channels, UnpackedForm::luminance, UnpackedForm::adjustable_luminance})
      for (const bool packs : {false, true}) {
        const StoredLayout storage = kind.make(2, 2);
        const bool too_many_planes = form == UnpackedForm::adjustable_luminance &&
                                     storage.frame.plane_count == FrameLayout::max_planes;
        if (is_needed(storage, form) && !too_many_planes &&
            !(packs && form == UnpackedForm::luminance))
          all.push_back({kind.name, form, packs});
      }
  return all;
}

const std::vector<RepackParameters>& all_conversions() {
  static const std::vector<RepackParameters> conversions = conversions_of(storage_kinds());
  return conversions;
}

void RepackCase::define(const ConstFrame& from, const Frame& to) const {
  if (parameters.packs)
    defined_packing(storage(), parameters.form, from, to);
  else
    defined_unpacking(storage(), parameters.form, from, to);
}

RepackCase make_repack_case(std::uint64_t seed, int number, int max_pixels) {
  Random random = random_of_case(seed, number);
  RepackCase test;
  test.title = "random case " + std::to_string(number);
  test.parameters = all_conversions()[number % all_conversions().size()];
  const auto [width, height] = random_picture_size(random, max_pixels);
  set_layouts(test, width, height);
  draw_placements(test, random);
  draw_content(test, random);
  return test;
}

RepackCase plain_repack_case(int width, int height, const RepackParameters& parameters,
                             Content content, std::uint64_t seed) {
  RepackCase test;
  test.parameters = parameters;
  set_layouts(test, width, height);
  make_dense(test, FrameLayout(test.layout), FrameLayout(test.out_layout), content, seed);
  return test;
}

std::string describe(const RepackCase& test) {
  return describe(static_cast<const FrameCase&>(test),
                  (test.parameters.packs ? "packs " : "unpacks ") + test.parameters.storage + ", " +
                      name(test.parameters.form));
}

}  // namespace cudavision::test
