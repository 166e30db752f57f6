// SPDX-License-Identifier: LGPL-2.1-or-later
#include <functional>
#include <stdexcept>

#include "cuda/sgm/backend.h"
#include "cuda/sgm/picture/disparitypicture.h"
#include "cuda/sgm/points/points.h"
#include "tests/bench/cuda_rows.h"
#include "tests/bench/graph_timer.h"
#include "tests/bench/stereo_subjects.h"
#include "tests/bench/winners_work.h"
#include "tests/kernels/common/device_block.h"
#include "tests/kernels/sgm/sgm_case.h"

namespace cudavision::bench {
namespace {

using sgm::Stages;
using test::Content;
using test::CudaTestDevice;
using test::DeviceBlock;
using test::plain_sgm_case;
using test::SgmFrames;

/// A matching to measure. `required` is the time in µs that the project requires on an NVIDIA H200,
/// or 0 if there is none, with the left-right check as the last step.
struct StereoSubject {
  const char* layout;
  int width, height;
  sgm::Parameters parameters;
  double required;
};

const StereoSubject subjects[] = {
    {"GRAY8", 640, 480, stereo_of(64, 4), 140},
    {"GRAY8", 640, 480, stereo_of(128, 8), 300},
    {"GRAY8", 1242, 375, stereo_of(128, 8), 400},
    {"GRAY8", 1920, 1080, stereo_of(128, 4), 700},
    {"GRAY8", 1920, 1080, stereo_of(128, 8), 1150},
    {"GRAY8", 1920, 1080, as_libsgm(stereo_of(128, 8)), 1150},
    {"GRAY8", 1920, 1080, stereo_of(256, 4), 1500},
    {"GRAY8", 1920, 1080, stereo_of(256, 8), 2200},
    {"GRAY8", 1920, 1080, stereo_of(512, 8), 0},
    {"GRAY8", 3840, 2160, stereo_of(128, 4), 3000},
    {"GRAY8", 3840, 2160, stereo_of(128, 8), 4400},
    {"GRAY8", 3840, 2160, stereo_of(256, 4), 5000},
    {"GRAY8", 3840, 2160, stereo_of(256, 8), 9000},
    {"GRAY8", 1920, 1080, cleaned(stereo_of(128, 4)), 0},
    {"GRAY8", 1920, 1080, balanced(stereo_of(128, 4)), 0},
    {"GRAY8", 1920, 1080, fronto_parallel(balanced(stereo_of(128, 4))), 0},
    {"GRAY8", 1920, 1080, noisy(balanced(stereo_of(128, 4)), 0), 0},
    {"GRAY8", 1920, 1080, noisy(balanced(stereo_of(128, 4)), 5), 0},
    {"GRAY8", 1920, 1080, accurate(stereo_of(128, 4)), 0},
    {"GRAY8", 1920, 1080, dense(stereo_of(128, 4)), 0},
    {"GRAY8", 1920, 1080, over_time(balanced(stereo_of(128, 4))), 0},
    {"GRAY8", 1920, 1080, over_time(dense(stereo_of(128, 4))), 0},
    {"GRAY16", 1920, 1080, stereo_of(128, 4), 0},
};

/// Larger pictures are not compared with the CPU, because that would take longer than all
/// measurements.
constexpr int max_pixels_compared = 1920 * 1080;

/// A frame launches a graph, and a single stage its kernels one by one.
enum class Timing { as_launched, captured };

/// Measures the GPU times of `work` and of a plain copy that reads and writes as many bytes in
/// total.
void measure(const CudaTestDevice& device, const std::function<void()>& work, std::size_t bytes,
             Timing how, Row& row) {
  const std::size_t copied = bytes / 2 / 16 * 16;
  const Buffer from = device->allocate(copied), to = device->allocate(copied);
  const GraphTimer timer(device.stream());
  if (how == Timing::as_launched) {
    const GraphTimer::Launched launched = timer.launched(work);
    row.microseconds = launched.microseconds;
    row.host_microseconds = launched.host_microseconds;
  } else {
    row.microseconds = timer.microseconds(work);
  }
  row.copy_microseconds = timer.microseconds(
      [&] { enqueue_plain_copy(device.stream(), from.data(), to.data(), copied); });
}

Row row_of(const StereoSubject& subject, const std::string& operation) {
  return {operation, subject.layout, subject.width, subject.height, test::name(Content::natural)};
}

void expect_no_difference(const CudaTestDevice& device, const StereoSubject& subject) {
  const auto cpu = make_cpu_device();
  const test::SgmCase test =
      test::plain_sgm_case(test::layout_named(subject.layout, subject.width, subject.height),
                           subject.parameters, Content::natural, 3);
  const test::SgmInput input = test::input_block(test);
  const std::string different = difference(test, test::SgmRunner(*cpu, test).run(input, 0),
                                           test::SgmRunner(*device, test).run(input, 0));
  if (!different.empty())
    throw std::runtime_error(describe(test) + ": CUDA differs from the CPU: " + different);
}

/// Measures the whole operation, from the two pictures to the map.
void measure(const CudaTestDevice& device, const StereoSubject& subject, Row& row) {
  if (subject.width * subject.height <= max_pixels_compared)
    expect_no_difference(device, subject);
  const SgmFrames frames(
      *device, plain_sgm_case(test::layout_named(subject.layout, subject.width, subject.height),
                              subject.parameters, Content::natural, 3));
  sgm::SgmStereo stereo(*device, frames.test.layout, frames.test.layout, subject.parameters);
  measure(
      device, [&] { stereo.run(frames.left, frames.right, frames.disparity); },
      frames.test.left.bytes + frames.test.right.bytes + frames.test.disparity.bytes,
      Timing::as_launched, row);
}

/// Measures each stage by itself, and a copy of the bytes that it must read and write.
void measure_stages(const CudaTestDevice& device, const StereoSubject& subject,
                    const CudaRows::Report& report) {
  const SgmFrames frames(
      *device, plain_sgm_case(test::layout_named(subject.layout, subject.width, subject.height),
                              subject.parameters, Content::natural, 3));
  const sgm::StageConfig config(frames.test.layout, subject.parameters);
  const sgm::Penalties penalties = sgm::penalties_for(subject.parameters);
  const auto plane = [&](const ConstFrame& frame) {
    return SamplePlane{frame.planes[0], config.width, config.bits, frames.test.layout.shift};
  };
  const SamplePlane left = plane(frames.left), right = plane(frames.right);

  const auto pixels = static_cast<std::size_t>(config.pixels());
  const std::size_t features = pixels * static_cast<std::size_t>(config.feature_bytes());
  const std::size_t volume = 2 * pixels * static_cast<std::size_t>(config.disparities);
  const std::size_t map = 2 * pixels;
  const Buffer left_features = device->allocate(features),
               right_features = device->allocate(features);
  const Buffer sums = device->allocate(volume);
  const Buffer maps[] = {device->allocate(map), device->allocate(map), device->allocate(map),
                         device->allocate(map)};
  const auto stages = make_stages_cuda(*device, config);
  const auto number = [](const Buffer& buffer) { return buffer.as<std::uint16_t>(); };

  const auto add = [&](const char* stage, std::size_t bytes, const std::function<void()>& work,
                       Timing how = Timing::captured) {
    Row row = row_of(subject, stereo_name(subject.parameters) + ": " + stage);
    measure(device, work, bytes, how, row);
    report(row);
  };
  const sgm::WtaResult winners{number(maps[0]), number(maps[1]), nullptr};
  add("census of both", 2 * (frames.test.left.bytes + features), [&] {
    stages->census(left, left_features.data());
    stages->census(right, right_features.data());
  });
  add(
      "match", frames.test.left.bytes + frames.test.right.bytes + 2 * map,
      [&] {
        stages->begin_frame();
        stages->match(left, right, penalties, static_cast<float>(subject.parameters.uniqueness),
                      sgm::subpixel_of(subject.parameters), winners);
        stages->end_frame();
      },
      Timing::as_launched);
  if (config.feature_bytes() == 4 && config.disparities <= 256) {
    const WinnersWork work = make_winners_work(*device, device.stream(), config,
                                               static_cast<float>(subject.parameters.uniqueness),
                                               sgm::subpixel_of(subject.parameters), winners);
    add("winners", work.volume_bytes + 2 * map, work.enqueue);
  }
  add("aggregate", frames.test.left.bytes + 2 * features + volume, [&] {
    stages->aggregate(left, left_features.data(), right_features.data(), penalties, number(sums));
  });
  add("select", volume + 2 * map, [&] {
    stages->select(number(sums), static_cast<float>(subject.parameters.uniqueness),
                   sgm::subpixel_of(subject.parameters), winners);
  });
  add("median", 2 * map, [&] { stages->median(number(maps[0]), number(maps[2])); });
  add("check", 3 * map, [&] {
    stages->check(left, number(maps[1]), subject.parameters.subpixel, 1, number(maps[2]));
  });
  add("median_and_check", 3 * map, [&] {
    stages->median_and_check(left, number(maps[0]), number(maps[1]), subject.parameters.subpixel, 1,
                             number(maps[2]), nullptr);
  });
  if (!config.libsgm())
    add("median_refine_and_check", 2 * frames.test.right.bytes + 6 * map, [&] {
      stages->median_refine_and_check(left, right, number(maps[0]), number(maps[1]), 1,
                                      number(maps[2]), number(maps[3]));
    });
  add("remove_speckles", 2 * map, [&] { stages->remove_speckles(100, 16, number(maps[2])); });
  const Buffer confidences = device->allocate(pixels);
  device->fill({confidences.as<std::uint8_t>(), config.width, config.height, config.width}, 50);
  if (!config.libsgm()) {
    const std::size_t pictures = frames.test.left.bytes + frames.test.right.bytes;
    add("sharpen", pictures + 2 * map,
        [&] { stages->sharpen(left, right, number(maps[2]), number(maps[3])); });
    add("fill_slopes", 2 * map, [&] {
      stages->fill_slopes(number(maps[2]), number(maps[3]), confidences.as<std::uint8_t>());
    });
    add("refine_filled", frames.test.left.bytes + 3 * map,
        [&] { stages->refine_filled(left, number(maps[2]), number(maps[3]), number(maps[0])); });
    add("smooth", 3 * (frames.test.left.bytes + pixels + 2 * map), [&] {
      stages->smooth(left, confidences.as<std::uint8_t>(), number(maps[0]), number(maps[3]),
                     number(maps[1]));
    });
  }
  const Buffer ages = device->allocate(pixels);
  scenecut::AreaMeans areas(*device, frames.test.layout);
  const sgm::History history{number(maps[0]), ages.as<std::uint8_t>(), areas.change()};
  add("keep_confident", 2 * map + pixels, [&] {
    stages->keep_confident(number(maps[2]), confidences.as<std::uint8_t>(), 20, {},
                           number(maps[1]));
  });
  add("area means", 0, [&] { areas.run(frames.left); });
  add("filter_over_time", 3 * map + 2 * pixels, [&] {
    stages->filter_over_time(number(maps[2]), nullptr, {102, 16, 4}, history);
  });
  add("fill_holes", 2 * map, [&] { stages->fill_holes(number(maps[2])); });
  if (!config.libsgm())
    add("refine", frames.test.left.bytes + 2 * map,
        [&] { stages->refine(left, number(maps[2]), number(maps[0])); });
  add("write", 2 * map, [&] {
    stages->write(number(maps[2]), sgm::disparity_scale(subject.parameters), frames.disparity);
  });
}

/// Measures the stages under noise, of pictures with no and with some noise.
void measure_noise_stages(const CudaTestDevice& device, const StereoSubject& subject,
                          const CudaRows::Report& report) {
  const SgmFrames frames(
      *device, plain_sgm_case(test::layout_named(subject.layout, subject.width, subject.height),
                              subject.parameters, Content::natural, 3));
  const sgm::StageConfig config(frames.test.layout, subject.parameters);
  const auto plane = [&](const ConstFrame& frame) {
    return SamplePlane{frame.planes[0], config.width, config.bits, frames.test.layout.shift};
  };
  const SamplePlane left = plane(frames.left), right = plane(frames.right);
  const auto pixels = static_cast<std::size_t>(config.pixels());
  const std::size_t pictures = frames.test.left.bytes + frames.test.right.bytes;
  const Buffer filtered = device->allocate(4 * pixels), features = device->allocate(8 * pixels),
               maps = device->allocate(4 * pixels);
  auto* const map = maps.as<std::uint16_t>();
  auto* const first = filtered.as<std::uint16_t>();
  auto* const second = first + pixels;
  const auto stages = make_stages_cuda(*device, config);
  const DeviceBlock<sgm::NoiseState> state(*device, {sgm::NoiseState()});
  const auto add = [&](const std::string& stage, std::size_t bytes,
                       const std::function<void()>& work, Timing how = Timing::captured) {
    Row row = row_of(subject, stereo_name(subject.parameters) + ": " + stage);
    measure(device, work, bytes, how, row);
    report(row);
  };
  add("estimate_noise", frames.test.left.bytes,
      [&] { stages->estimate_noise(left, false, state.data()); });
  for (const std::uint32_t deviation : {0u, 80u}) {
    const sgm::NoiseSource noise{sgm::noise_of_deviation(deviation), nullptr};
    const std::string suffix = " at " + std::to_string(deviation / 16);
    add("filter_noise of both" + suffix, pictures + 4 * pixels, [&] {
      stages->filter_noise(left, noise, first);
      stages->filter_noise(right, noise, second);
    });
    add("census_filtered of both" + suffix, 12 * pixels, [&] {
      stages->census_filtered(first, noise, features.as<std::uint32_t>());
      stages->census_filtered(second, noise, features.as<std::uint32_t>() + pixels);
    });
    add(
        "match_under_noise" + suffix, pictures + 4 * pixels,
        [&] {
          stages->begin_frame();
          stages->match_under_noise(left, right, noise, sgm::penalties_for(subject.parameters),
                                    0.95F, sgm::Subpixel::equiangular,
                                    {map, map + pixels, nullptr});
          stages->end_frame();
        },
        Timing::as_launched);
  }
}

/// Measures what each further output of a match costs: depth, colours and points, which are made
/// from the map, and the whole operation with confidence.
void measure_outputs(const CudaTestDevice& device, const StereoSubject& subject,
                     const CudaRows::Report& report) {
  const SgmFrames frames(
      *device, plain_sgm_case(test::layout_named(subject.layout, subject.width, subject.height),
                              subject.parameters, Content::natural, 3));
  sgm::SgmStereo stereo(*device, frames.test.layout, frames.test.layout, subject.parameters);
  const int width = subject.width, height = subject.height;
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  const std::size_t map = 2 * pixels;
  const Buffer memory = device->allocate(sgm::Points::bytes_per_point * pixels);
  const auto rows_of = [&](int bytes_per_pixel) {
    return View<std::uint8_t>{memory.as<std::uint8_t>(), bytes_per_pixel * width, height,
                              std::ptrdiff_t{bytes_per_pixel} * width};
  };
  stereo.run(frames.left, frames.right, frames.disparity);

  const auto add = [&](const char* output, std::size_t bytes, const std::function<void()>& work,
                       Timing how) {
    Row row = row_of(subject, stereo_name(subject.parameters) + ": " + output);
    measure(device, work, bytes, how, row);
    report(row);
  };
  using Kind = sgm::DisparityPicture::Kind;
  sgm::DisparityPicture depth(*device, test::gray_layout(width, height, 16), subject.parameters,
                              Kind::depth);
  sgm::PictureParameters cameras;
  cameras.kind = Kind::depth;
  cameras.focal_length = 700, cameras.baseline = 120;
  depth.set_parameters(subject.parameters, cameras);
  Frame depths;
  depths.planes[0] = rows_of(2);
  add(
      "depth", 2 * map, [&] { depth.run(frames.disparity, depths); }, Timing::captured);
  using Range = sgm::PictureParameters::Range;
  sgm::DisparityPicture colors(*device, test::layout_named("RGBA", width, height),
                               subject.parameters, Kind::color);
  Frame colored;
  colored.planes[0] = rows_of(4);
  for (const auto& [name, range] :
       {std::pair{"colours", Range::full}, {"colours, automatic range", Range::automatic}}) {
    sgm::PictureParameters look;
    look.kind = Kind::color;
    look.range = range;
    colors.set_parameters(subject.parameters, look);
    add(
        name, map + 4 * pixels, [&] { colors.run(frames.disparity, colored, 0.04); },
        Timing::captured);
  }
  sgm::Points points(*device, width, height, subject.parameters,
                     sgm::reprojection_of(700, 120, width, height));
  add(
      "points", map + memory.size(), [&] { points.run(frames.disparity, rows_of(12)); },
      Timing::captured);
  add(
      "with confidence",
      frames.test.left.bytes + frames.test.right.bytes + frames.test.disparity.bytes + pixels,
      [&] { stereo.run(frames.left, frames.right, frames.disparity, rows_of(1)); },
      Timing::as_launched);
}

}  // namespace

void add_cuda_stereo(CudaRows& rows) {
  for (const StereoSubject& subject : subjects) {
    Row row = row_of(subject, stereo_name(subject.parameters));
    row.required = subject.required;
    rows.add(row, [subject](const CudaTestDevice& device, Row& measured) {
      measure(device, subject, measured);
    });
  }
  // A stage works on what the stages before it have made, so they are measured together.
  for (const StereoSubject& subject : {subjects[0], subjects[3], subjects[4]})
    rows.add_series(row_of(subject, stereo_name(subject.parameters) + ": all stages"),
                    [subject](const CudaTestDevice& device, const CudaRows::Report& report) {
                      measure_stages(device, subject, report);
                    });
  rows.add_series(row_of(subjects[3], stereo_name(subjects[3].parameters) + ": noise"),
                  [](const CudaTestDevice& device, const CudaRows::Report& report) {
                    measure_noise_stages(device, subjects[3], report);
                  });
  rows.add_series(row_of(subjects[3], stereo_name(subjects[3].parameters) + ": all outputs"),
                  [](const CudaTestDevice& device, const CudaRows::Report& report) {
                    measure_outputs(device, subjects[3], report);
                  });
}

}  // namespace cudavision::bench
