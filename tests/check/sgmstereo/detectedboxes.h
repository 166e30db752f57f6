// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/video/video.h>

#include <vector>

#include "tests/check/common/stereoharness.h"
#include "tests/kernels/sgm/distances/distances_case.h"

/// Boxes on left frames, and the results of cudasgmstereo detections=true.
namespace check {

using cudavision::regions::Box;
using cudavision::sgm::BoxDisparity;

inline constexpr double focal_length = 500, baseline = 80;

/// Properties that measure detections, with the focal length and baseline of the test cameras.
Properties detecting(const Properties& more = {});

/// A region as in a meta, where negative coordinates wrap around.
struct Region {
  gint64 x, y, width, height;
};

inline constexpr Region regions_of_wall[] = {{100, 40, 60, 80},  {0, 0, 320, 160},
                                             {-10, -20, 60, 50}, {300, 150, 80, 80},
                                             {50, 50, 1, 1},     {200, 20, 3, 2}};

GstVideoRegionOfInterestMeta* add_region(GstBuffer* buffer, const Region& region);

/// Adds regions with the ids 7, 8, …
template <class Regions>
GstBuffer* with_regions(GstBuffer* buffer, const Regions& regions) {
  int id = 7;
  for (const Region& region : regions)
    add_region(buffer, region)->id = id++;
  return buffer;
}

std::vector<Owned<GstMessage>> messages_of(StereoHarness& stereo);
std::vector<const GstStructure*> objects_in(GstMessage* message);

int integer_in(const GstStructure* structure, const char* field);
Region region_in(const GstStructure* structure);
Box map_box_in(const GstStructure* structure);

/// Describes a GRAY16_LE map with 32 disparities, from 0, for the definition.
cudavision::test::DistancesCase map_case(const Map& map, int columns, int rows);

void expect_near(const GstStructure* structure, const char* field, double expected);
/// Compares an object in a message with the expected result, for this centre of the picture.
void expect_result(const GstStructure* structure, const BoxDisparity& result, const Box& box,
                   double focal, double base, double center_x, double center_y);

/// Returns the part of a region that is inside the picture, or an empty box at (0, 0).
Box visible(const Region& region, int columns, int rows);

/// Compares the parameters `distance` of an output with the objects of a message.
void expect_parameters(GstBuffer* output, const std::vector<const GstStructure*>& objects);

}  // namespace check
