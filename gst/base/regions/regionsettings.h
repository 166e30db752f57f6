// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/regions/regions.h"
#include "gst/base/properties.h"

/// The properties that select the regions of a frame to process.
namespace cudavision {

/// Rounds a rectangle to pixels and clips it to the coordinates that boxes may have. A rectangle
/// beyond them becomes one pixel wide or high: the box is outside of every frame, but not empty.
regions::Box box_within_limits(double x, double y, double width, double height);

/// A rectangle as a user writes it: in pixels, or in fractions of the frame's width and height.
struct WrittenRectangle {
  double x, y, width, height;
  bool fractions;

  regions::Box box_in(int frame_width, int frame_height) const;
};

/// The rectangles of the property `regions`: x,y,width,height, separated by semicolons.
class RegionText {
 public:
  RegionText() : RegionText("") {}
  explicit RegionText(const char* text);

  const char* c_str() const noexcept { return parsed_->text.c_str(); }
  bool empty() const noexcept { return rectangles().empty() && error().empty(); }
  const std::vector<WrittenRectangle>& rectangles() const noexcept { return parsed_->rectangles; }
  /// Returns an empty string, or an error that quotes the wrong rectangle and gives a remedy.
  const std::string& error() const noexcept { return parsed_->error; }

  bool operator==(const RegionText& other) const noexcept {
    return parsed_ == other.parsed_ || parsed_->text == other.parsed_->text;
  }

 private:
  struct Parsed {
    std::string text;
    std::vector<WrittenRectangle> rectangles;
    std::string error;
  };

  std::shared_ptr<const Parsed> parsed_;  // copies of the settings share it
};

/// The labels of the property `region-types`, separated by commas.
class RegionTypes {
 public:
  RegionTypes() : RegionTypes("") {}
  explicit RegionTypes(const char* text);

  const char* c_str() const noexcept { return parsed_->text.c_str(); }
  /// Returns true if regions with this label are accepted. Ignores the case of ASCII letters.
  bool accepts(GQuark label) const;
  bool accepts_all() const noexcept { return parsed_->labels.empty(); }

 private:
  struct Parsed {
    std::string text;
    std::vector<std::string> labels;
  };

  std::shared_ptr<const Parsed> parsed_;
};

/// What to do with frames that have no known region.
enum class RegionsMissing { pass, all };

/// Selects a detection's mask or its box as the region.
enum class RegionMasks { prefer, ignore, only };

/// Base class of the settings of elements that work on regions.
struct RegionSettings {
  RegionText regions;
  bool use_roi_meta = false;
  RegionTypes region_types;
  double region_confidence = 0;
  RegionMasks region_masks = RegionMasks::prefer;
  regions::Shape region_shape = regions::Shape::rectangle;
  int region_margin = 0;
  int region_feather = 0;
  bool region_invert = false;
  RegionsMissing regions_missing = RegionsMissing::pass;
  guint64 region_persistence = 0;  ///< in ns

  /// Returns true if frames are processed in regions only. Otherwise they are processed as a whole.
  bool in_regions() const noexcept { return use_roi_meta || !regions.empty(); }
};

template <class Settings>
void add_region_properties(ElementProperties<Settings>& all) {
  all.template add_text<RegionText>(
      {"regions", "Regions",
       "Rectangles to which the effect is limited: x,y,width,height in pixels or, with decimal "
       "points, in fractions of the frame (0.25,0.25,0.5,0.5), separated by semicolons (empty = "
       "the whole frame, unless use-roi-meta is on)"},
      &Settings::regions);
  all.add({"use-roi-meta", "Use ROI metas",
           "Limit the effect to the regions of interest in the frame's metas, in addition to the "
           "rectangles in regions; regions-missing applies to frames without a region"},
          &Settings::use_roi_meta);
  all.template add_text<RegionTypes>({"region-types", "Region types",
                                      "With use-roi-meta: labels of the accepted regions, "
                                      "separated by commas, case-insensitive (empty = all)"},
                                     &Settings::region_types);
  all.add({"region-confidence", "Region confidence",
           "With use-roi-meta: minimum confidence of detections; a detection without a confidence "
           "is always accepted"},
          &Settings::region_confidence, Range<double>{0, 1});
  all.template add<RegionMasks>(
      {"region-masks", "Region masks",
       "With use-roi-meta: how segmentation masks are used (GStreamer 1.26 and newer)"},
      &Settings::region_masks, "GstCudaVisionRegionMasks",
      {{RegionMasks::prefer, "The mask replaces the box of a detection", "prefer"},
       {RegionMasks::ignore, "Boxes only", "ignore"},
       {RegionMasks::only, "Masks only", "only"}});
  all.template add<regions::Shape>(
      {"region-shape", "Region shape", "Shape of the regions within their rectangles"},
      &Settings::region_shape, "GstCudaVisionRegionShape",
      {{regions::Shape::rectangle, "The rectangle itself", "rectangle"},
       {regions::Shape::ellipse, "The ellipse that touches the rectangle's sides", "ellipse"}});
  all.add({"region-margin", "Region margin", "Pixels by which each side of a region is extended"},
          &Settings::region_margin, regions::Parameters::Ranges::margin);
  all.add({"region-feather", "Region feather",
           "Width of the border around a region in which the effect fades out, in pixels (0 = a "
           "hard edge)"},
          &Settings::region_feather, regions::Parameters::Ranges::feather);
  all.add({"region-invert", "Region invert", "Apply the effect to everything but the regions"},
          &Settings::region_invert);
  all.template add<RegionsMissing>(
      {"regions-missing", "Regions missing",
       "What to do with frames without a known region. With use-roi-meta, an accepted meta makes a "
       "region known, otherwise a rectangle of regions in the frame"},
      &Settings::regions_missing, "GstCudaVisionRegionsMissing",
      {{RegionsMissing::pass, "Pass unchanged; with region-invert, process as a whole", "pass"},
       {RegionsMissing::all, "Process as a whole", "all"}});
  all.add({"region-persistence", "Region persistence",
           "Running time in ns for which frames without a known region use the last known regions, "
           "extended by region-margin a second time (0 = off)"},
          &Settings::region_persistence);
}

}  // namespace cudavision
