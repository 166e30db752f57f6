// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include "cuda/sgm/backend.h"
#include "cuda/sgm/distances/distances.h"
#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/points/points.h"
#include "tests/bench/subject.h"
#include "tests/kernels/regions/masks_case.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::bench {
namespace {

using sgm::Parameters;

/// Returns parameters as in preset=fast: no noise filter, and no stages after the left-right check.
Parameters plain(int disparities, int paths) {
  Parameters parameters;
  parameters.speckle_size = 0;
  parameters.refine = false;
  parameters.slanted_surfaces = false;
  parameters.noise = 0;
  parameters.disparities = disparities;
  parameters.paths = paths;
  return parameters;
}

Parameters libsgm(int disparities, int paths) {
  Parameters parameters = plain(disparities, paths);
  parameters.compatibility = Parameters::Compatibility::libsgm;
  return parameters;
}

/// The noise filter and the stages after the left-right check, by default as in preset=balanced.
struct CleanUp {
  bool fill = false;
  int confidence = 0;
  bool slanted = true;
  double noise = Parameters::automatic_noise;
  bool over_time = false;
};

Parameters clean(int disparities, int paths, const CleanUp& steps) {
  Parameters parameters = plain(disparities, paths);
  parameters.speckle_size = 100;
  parameters.refine = true;
  parameters.fill_holes = steps.fill;
  parameters.confidence_threshold = steps.confidence;
  parameters.slanted_surfaces = steps.slanted;
  parameters.noise = steps.noise;
  if (steps.over_time) {
    parameters.temporal_alpha = 0.4;
    parameters.temporal_persistence = 4;
  }
  return parameters;
}

const Entry<Parameters> matches[] = {
    {"GRAY8", vga, plain(64, 4), all, 140},
    {"GRAY8", vga, plain(64, 8), cpu | opencv},
    {"GRAY8", vga, plain(128, 8), all, 300},
    {"GRAY8", vga, libsgm(128, 8), cpu},
    {"GRAY8", {1242, 375}, plain(128, 8), cuda, 400},
    {"GRAY8", {1280, 720}, plain(128, 8), opencv},
    {"GRAY8", hd, plain(128, 4), both, 700},
    {"GRAY8", hd, plain(128, 8), both, 1150},
    {"GRAY8", hd, libsgm(128, 8), cuda, 1150},
    {"GRAY8", hd, plain(256, 4), cuda, 1500},
    {"GRAY8", hd, plain(256, 8), cuda, 2200},
    {"GRAY8", hd, plain(512, 8), cuda},
    {"GRAY8", uhd, plain(128, 4), cuda, 3000},
    {"GRAY8", uhd, plain(128, 8), cuda, 4400},
    {"GRAY8", uhd, plain(256, 4), cuda, 5000},
    {"GRAY8", uhd, plain(256, 8), cuda, 9000},
    {"GRAY16", hd, plain(128, 4), cuda},
    {"GRAY8", vga, clean(128, 8, {.fill = true}), cpu},
    {"GRAY8", hd, clean(128, 4, {.fill = true}), cuda},
    {"GRAY8", hd, clean(128, 4, {}), cuda},
    {"GRAY8", hd, clean(128, 4, {.slanted = false}), cuda},
    {"GRAY8", hd, clean(128, 4, {.noise = 0}), cuda},
    {"GRAY8", hd, clean(128, 4, {.noise = 5}), cuda},
    {"GRAY8", hd, clean(128, 4, {.confidence = 60}), cuda},
    {"GRAY8", hd, clean(128, 4, {.fill = true, .confidence = 20}), cuda},
    {"GRAY8", hd, clean(128, 4, {.over_time = true}), cuda},
    {"GRAY8", hd, clean(128, 4, {.fill = true, .confidence = 20, .over_time = true}), cuda},
};

/// Returns the name of a match, such as "stereo 128 disparities 8 paths", "… libsgm", "… cleaned",
/// "… refined", "… refined fronto-parallel" or "… refined confidence 60 over time".
std::string match_name(const Parameters& p) {
  std::string name = "stereo " + std::to_string(p.disparities) + " disparities " +
                     std::to_string(p.paths) + " paths";
  if (p.compatibility == Parameters::Compatibility::libsgm)
    name += " libsgm";
  if (p.speckle_size > 0)
    name += std::string(p.fill_holes ? " cleaned" : " refined") +
            (p.slanted_surfaces ? "" : " fronto-parallel");
  if (p.confidence_threshold > 0)
    name += " confidence " + std::to_string(p.confidence_threshold);
  if (p.noise > 0)
    name += " noise " + std::to_string(static_cast<int>(p.noise));
  if (p.speckle_size > 0 && p.noise == 0)
    name += " without noise";
  return name + (p.temporal_alpha < 1 ? " over time" : "");
}

Subject match_subject(const Entry<Parameters>& entry) {
  test::SgmCase test =
      test::plain_sgm_case(entry.frame_layout(), entry.parameters, Content::natural, 3);
  test.with_confidence = false;
  Subject subject = make_subject<CaseRun<test::SgmCase>>(
      entry.row(match_name(entry.parameters)), entry.runners, test,
      test.left.bytes + test.right.bytes + test.disparity.bytes, true);
  subject.items = entry.pixels() * static_cast<std::size_t>(entry.parameters.disparities);
  if (entry.pixels() > 1920 * 1080)
    subject.difference = nullptr;
  return subject;
}

/// Returns boxes of size×size pixels that are spread over an image.
std::vector<regions::Box> spread_boxes(int count, int size, int width, int height) {
  std::vector<regions::Box> boxes;
  for (int i = 0; i < count; ++i) {
    const int x = i * 331 % (width - size), y = i * 127 % (height - size);
    boxes.push_back({x, y, x + size, y + size});
  }
  return boxes;
}

/// For each box, returns a mask of the box's size that selects the ellipse inside the box.
std::vector<test::MaskPicture> ellipses(const std::vector<regions::Box>& boxes) {
  std::vector<test::MaskPicture> masks(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const int size = boxes[i].x1 - boxes[i].x0;
    masks[i].width = masks[i].height = masks[i].pitch = size;
    masks[i].ids = {2, 0, 0, 0, 0, 0, 0, 0};
    masks[i].box = boxes[i];
    for (int y = 1 - size; y < size; y += 2)
      for (int x = 1 - size; x < size; x += 2)
        masks[i].bytes.push_back(x * x + y * y < size * size);
  }
  return masks;
}

/// The parts of a match in measuring order. Requires 4-byte features and no compatibility mode.
struct Parts {
  Parts(Device& where, const test::SgmCase& test, std::string match)
      : device(where), frames(device, test), name(std::move(match)) {
    device.fill({confidences, config.width, config.height, config.width}, 50);
  }

  SamplePlane plane(const ConstFrame& frame) const {
    return {frame.planes[0], config.width, config.bits, layout.shift};
  }
  template <class Number>
  Number* allocate(int numbers = 1) {
    buffers.push_back(device.allocate(static_cast<std::size_t>(numbers) * pixels * sizeof(Number)));
    return buffers.back().as<Number>();
  }
  template <class Operation, class... Arguments>
  Operation& make(const Arguments&... arguments) {
    const auto operation = std::make_shared<Operation>(device, arguments...);
    operations.push_back(operation);
    return *operation;
  }
  void add(const std::string& part, std::size_t bytes, std::function<void()> run,
           bool graphs = false) {
    work.push_back({std::move(run), bytes, name + ": " + part, graphs});
  }
  void add_list(const std::string& part, std::size_t bytes, std::vector<sgm::Stage> list) {
    add(part, bytes, [this, list = std::move(list)] { stages->run(list); });
  }

  void add_stages();
  void add_noise_stages();
  void add_outputs();

  Device& device;
  const test::SgmFrames frames;
  const std::string name;
  const FrameLayout& layout = frames.test.layout;
  const Parameters& parameters = frames.test.parameters;
  const sgm::StageConfig config{layout, parameters};
  const std::unique_ptr<sgm::Stages> stages = sgm::make_stages(device, config);
  const SamplePlane left = plane(frames.left), right = plane(frames.right);
  const std::size_t pixels = static_cast<std::size_t>(config.pixels()), map = 2 * pixels,
                    picture = frames.test.left.bytes;  ///< bytes of the left image
  std::vector<Buffer> buffers;
  std::vector<std::shared_ptr<void>> operations;
  std::vector<Work> work;
  std::uint32_t *const left_features = allocate<std::uint32_t>(), *const right_features =
                                                                      allocate<std::uint32_t>();
  std::uint16_t *const best = allocate<std::uint16_t>(),
                       *const best_of_right = allocate<std::uint16_t>(),
                       *const checked = allocate<std::uint16_t>(),
                       *const scratch = allocate<std::uint16_t>();
  std::uint8_t* const confidences = allocate<std::uint8_t>();
};

void Parts::add_stages() {
  const auto uniqueness = static_cast<float>(parameters.uniqueness);
  const sgm::Subpixel subpixel = sgm::subpixel_of(parameters);
  const sgm::Penalties penalties = sgm::penalties_for(parameters);
  const sgm::WtaResult winners{best, best_of_right, nullptr};
  const std::size_t volume = map * static_cast<std::size_t>(config.disparities);
  auto* const sums = allocate<std::uint16_t>(config.disparities);

  add("census of both", 2 * (picture + 4 * pixels), [this] {
    stages->census(left, left_features);
    stages->census(right, right_features);
  });
  add("aggregate", picture + 8 * pixels + volume,
      [=, this] { stages->aggregate(left, left_features, right_features, penalties, {}, sums); });
  add("select", volume + 2 * map,
      [=, this] { stages->select(sums, uniqueness, subpixel, winners); });
  add("median", 2 * map, [this] { stages->run(sgm::Median{best, checked}); });
  add("check", 3 * map, [this] { stages->run(sgm::Check{left, best_of_right, true, 1, checked}); });
  add_list("median_and_check", 3 * map,
           {sgm::Median{best_of_right, scratch}, sgm::Median{best, checked},
            sgm::Check{left, scratch, true, 1, checked}});
  add_list("median_refine_and_check", 2 * picture + 6 * map,
           {sgm::Median{best_of_right, scratch}, sgm::Refine{right, scratch, best_of_right},
            sgm::Median{best, checked}, sgm::Check{left, best_of_right, true, 1, checked}});
  add("remove_speckles", 2 * map, [this] { stages->run(sgm::RemoveSpeckles{100, 16, checked}); });
  add("sharpen", 2 * picture + 2 * map, [this] {
    stages->run(sgm::Sharpen{left, right, checked, scratch});
  });
  add("fill_slopes", 2 * map, [this] {
    stages->run(sgm::FillSlopes{checked, scratch, confidences});
  });
  add("refine_filled", picture + 3 * map, [this] {
    stages->run(sgm::RefineFilled{left, checked, scratch, best});
  });
  add("smooth", 3 * (picture + pixels + 2 * map), [this] {
    stages->run(sgm::Smooth{left, confidences, best, scratch, best_of_right});
  });
  add("keep_confident", 2 * map + pixels, [this] {
    stages->run(sgm::KeepConfident{checked, confidences, 20, {}, best_of_right});
  });
  auto& areas = make<scenecut::AreaMeans>(layout);
  const sgm::History history{best, allocate<std::uint8_t>(), areas.change()};
  add("area means", picture, [this, &areas] { areas.run(frames.left); });
  add("filter_over_time", 3 * map + 2 * pixels, [this, history] {
    stages->run(sgm::FilterOverTime{checked, nullptr, {102, 16, 4}, history});
  });
  add("fill_holes", 2 * map, [this] { stages->run(sgm::FillHoles{checked}); });
  add("refine", picture + 2 * map, [this] { stages->run(sgm::Refine{left, checked, best}); });
  add("write", 2 * map, [this, scale = sgm::disparity_scale(parameters)] {
    stages->run(sgm::Write{checked, scale, frames.disparity});
  });
}

void Parts::add_noise_stages() {
  auto* const state =
      make<test::DeviceBlock<sgm::NoiseState>>(std::vector{sgm::NoiseState()}).data();
  add("estimate_noise", picture, [=, this] { stages->estimate_noise(left, false, state); });
  for (const std::uint32_t deviation : {0u, 80u}) {
    const sgm::NoiseSource noise{sgm::noise_of_deviation(deviation), nullptr};
    const std::string suffix = " at " + std::to_string(deviation / 16);
    add("filter_noise of both" + suffix, 2 * picture + 4 * pixels, [=, this] {
      stages->filter_noise(left, noise, best);
      stages->filter_noise(right, noise, best_of_right);
    });
    add("census_filtered of both" + suffix, 12 * pixels, [=, this] {
      stages->census_filtered(best, noise, left_features);
      stages->census_filtered(best_of_right, noise, right_features);
    });
  }
}

void Parts::add_outputs() {
  auto& stereo = make<sgm::SgmStereo>(layout, layout, parameters);
  stereo.run(frames.left, frames.right, frames.disparity);
  auto* const memory = allocate<std::uint8_t>(sgm::Points::bytes_per_point);
  const auto rows_of = [=, this](int pixel_bytes) {
    const int row_bytes = pixel_bytes * config.width;
    return View<std::uint8_t>{memory, row_bytes, config.height, row_bytes};
  };
  const auto add_picture = [&](const char* part, const FrameLayout& pixels_layout, int pixel_bytes,
                               const sgm::PictureParameters& look) {
    auto& operation = make<sgm::DisparityPicture>(pixels_layout, parameters, look.kind);
    operation.set_parameters(parameters, look);
    Frame out;
    out.planes[0] = rows_of(pixel_bytes);
    add(part, map + pixels * pixel_bytes,
        [this, &operation, out] { operation.run(frames.disparity, out, 0.04); });
  };
  sgm::PictureParameters depth, colors;
  depth.kind = sgm::DisparityPicture::Kind::depth;
  depth.focal_length = 700, depth.baseline = 120;
  add_picture("depth", test::gray_layout(config.width, config.height, 16), 2, depth);
  colors.kind = sgm::DisparityPicture::Kind::color;
  colors.range = sgm::PictureParameters::Range::full;
  const FrameLayout rgba = test::layout_named("RGBA", config.width, config.height);
  add_picture("colours", rgba, 4, colors);
  colors.range = sgm::PictureParameters::Range::automatic;
  add_picture("colours, automatic range", rgba, 4, colors);

  auto& points = make<sgm::Points>(config.width, config.height, parameters,
                                   sgm::reprojection_of(700, 120, config.width, config.height));
  add("points", map + pixels * sgm::Points::bytes_per_point,
      [this, &points, rows = rows_of(12)] { points.run(frames.disparity, rows); });
  for (const int count : {16, sgm::Distances::max_boxes}) {
    const std::vector<regions::Box> boxes = spread_boxes(count, 200, config.width, config.height);
    auto& distances = make<sgm::Distances>(config.width, config.height, parameters);
    buffers.push_back(device.allocate_host(boxes.size() * sizeof(sgm::BoxDisparity)));
    auto* const results = buffers.back().as<sgm::BoxDisparity>();
    add("distances of " + std::to_string(count) + " boxes of 200x200", boxes.size() * 2 * 100 * 100,
        [this, &distances, boxes, results] { distances.run(frames.disparity, boxes, results); });
    const auto masks = std::make_shared<const test::DeviceMasks>(device, ellipses(boxes));
    const auto run_masked = [this, &distances, boxes, results, masks] {
      distances.run(frames.disparity, boxes, results, masks->masks);
    };
    // No graph can capture the upload of the masks' table.
    add("distances of " + std::to_string(count) + " masked boxes of 200x200",
        boxes.size() * 3 * 200 * 200, run_masked, true);
  }
  add(
      "with confidence", 2 * picture + map + pixels,
      [this, &stereo, rows = rows_of(1)] {
        stereo.run(frames.left, frames.right, frames.disparity, rows);
      },
      true);
}

void add_parts(Subjects& subjects, const Entry<Parameters>& match, const char* title,
               void (Parts::*add)()) {
  Subject subject = match_subject(match);
  const std::string name = subject.row.operation;
  subject.row.operation += std::string(": ") + title;
  subject.difference = nullptr;
  subject.prepare = [=, test = std::any_cast<test::SgmCase>(subject.test)](Device& device) {
    const auto parts = std::make_shared<Parts>(device, test, name);
    ((*parts).*add)();
    return PreparedWork{parts, std::move(parts->work)};
  };
  subjects.push_back(subject);
}

}  // namespace

void add_stereo(Subjects& subjects) {
  for (const Entry<Parameters>& match : matches)
    subjects.push_back(match_subject(match));
  const Entry<Parameters> usual{"GRAY8", hd, plain(128, 4), cuda};
  add_parts(subjects, {"GRAY8", vga, plain(64, 4), cuda}, "all stages", &Parts::add_stages);
  add_parts(subjects, usual, "all stages", &Parts::add_stages);
  add_parts(subjects, {"GRAY8", hd, plain(128, 8), cuda}, "all stages", &Parts::add_stages);
  add_parts(subjects, usual, "noise", &Parts::add_noise_stages);
  add_parts(subjects, usual, "all outputs", &Parts::add_outputs);
}

}  // namespace cudavision::bench
