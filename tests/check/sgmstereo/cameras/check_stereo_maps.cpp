// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests which files are read as calibrations, and the rectification maps made from them.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <opencv2/calib3d.hpp>  // before gstcheck.h, which defines fail

#include "gst/sgmstereo/rectification/calibrationfile.h"
#include "gst/sgmstereo/rectification/rectification.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/common/testcase.h"
#include "tests/check/sgmstereo/cameras/calibratedcameras.h"

using namespace check;
using namespace cudavision;

namespace {

struct CvMap {
  cv::Mat places, fractions;
};

CvMap cv_map(const CalibratedCameras& cameras, bool right) {
  const cv::Mat &m = right ? cameras.m2 : cameras.m1, &d = right ? cameras.d2 : cameras.d1;
  const cv::Mat &r = right ? cameras.r2 : cameras.r1, &p = right ? cameras.p2 : cameras.p1;
  CvMap map;
  if (cameras.fisheye)
    cv::fisheye::initUndistortRectifyMap(m, d, r, p, cameras.size, CV_16SC2, map.places,
                                         map.fractions);
  else
    cv::initUndistortRectifyMap(m, d, r, p, cameras.size, CV_16SC2, map.places, map.fractions);
  return map;
}

void expect_map(const RectifyingMap& found, const CvMap& expected) {
  const std::size_t pixels = expected.fractions.total();
  fail_unless_equals_int(found.places.size(), 2 * pixels);
  fail_unless_equals_int(found.fractions.size(), pixels);
  fail_unless(
      std::equal(found.places.begin(), found.places.end(), expected.places.ptr<std::int16_t>()),
      "the coordinates differ");
  fail_unless(std::equal(found.fractions.begin(), found.fractions.end(),
                         expected.fractions.ptr<std::uint16_t>()),
              "the fractions differ");
}

/// Allows fewer than one in 1000 pixels to differ, because matrices may differ in the last digits.
void expect_nearly(const RectifyingMap& found, const CvMap& expected) {
  fail_unless_equals_int(found.fractions.size(), expected.fractions.total());
  int different = 0;
  for (std::size_t i = 0; i < found.fractions.size(); ++i)
    different += found.fractions[i] != expected.fractions.ptr<std::uint16_t>()[i] ||
                 found.places[2 * i] != expected.places.ptr<std::int16_t>()[2 * i] ||
                 found.places[2 * i + 1] != expected.places.ptr<std::int16_t>()[2 * i + 1];
  fail_unless(different < static_cast<int>(found.fractions.size()) / 1000, "%d coordinates differ",
              different);
}

void expect_rectification(const Rectification& found, const CalibratedCameras& cameras) {
  expect_map(found.left, cv_map(cameras, false));
  expect_map(found.right, cv_map(cameras, true));
  fail_unless(found.focal_length == cameras.p1.at<double>(0, 0));
  fail_unless(std::abs(found.baseline - cv::norm(cameras.t)) < 1e-9 * found.baseline,
              "baseline %.17g", found.baseline);
  // The principal point, focal length and baseline agree with OpenCV's matrix Q.
  const auto q = [&](int row, int column) { return cameras.q.at<double>(row, column); };
  const auto& projection = found.left_camera.rectification.projection;
  fail_unless(projection[2] == -q(0, 3) && projection[6] == -q(1, 3));
  fail_unless(found.focal_length == q(2, 3) && std::abs(1 / found.baseline - q(3, 2)) < 1e-9);
}

constexpr std::size_t max_bytes = std::size_t{4} << 20;

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

std::string indented_lines(int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  return all;
}

/// Returns deeply nested texts. In some of them, quotes or comments hide closing brackets.
std::vector<std::string> nested_texts(int levels) {
  const std::string yaml = "%YAML:1.0\n---\n", xml = "<?xml version=\"1.0\"?>\n<opencv_storage>\n";
  std::vector<std::string> texts;
  for (const std::string& text :
       {"a: " + times(levels, "["), "a: " + times(levels, "{b: "), times(levels, "- "),
        times(levels, "-"), times(levels, "a: "), times(levels, "- a: "),
        "a: " + times(levels, "[ \"]\", "), "a: " + times(levels, "[ ']', "),
        "a:\n" + times(levels, " [ # ]\n"), "a:\n" + times(levels, " [ \r ]\n"),
        "a: " + times(levels, "[ !] b, "), "a: " + times(levels, "{ b]: "),
        "a]: [ c, " + times(levels, "d[, [")})
    texts.push_back(yaml + text + "\n");
  texts.push_back(yaml + indented_lines(std::min(levels, 2500)));
  for (const std::string& text :
       {times(levels, "["), times(levels, "{\"b\": "), times(levels, "[\"]\", "),
        times(levels, "[\"\\\"\", "), times(levels, "[ /*\n]*/ "), times(levels, "[ // ]\"\n"),
        times(levels, "{\"b\\\": ")})
    texts.push_back("{\"a\": " + text + "\n");
  for (const std::string& text :
       {times(levels, "<a>"), times(levels, "<a> <!-- </a> -->"), times(levels, "<a b=\"c\">\n")})
    texts.push_back(xml + text + "\n");
  return texts;
}

}  // namespace

TEST(test_maps_are_those_of_opencv) {
  for (const bool fisheye : {false, true}) {
    Folder folder;
    const CalibratedCameras cameras(fisheye);
    const StereoCalibration calibration = read(cameras.write(folder));
    expect_rectification(make_rectification(calibration, 640, 480, -1), cameras);
    for (const double alpha : {0.0, 0.4, 1.0})
      expect_rectification(make_rectification(calibration, 640, 480, alpha),
                           CalibratedCameras(fisheye, alpha));
  }
}

// The rectification in the files is used unless alpha asks for another one.
TEST(test_rectification_of_the_files) {
  Folder folder;
  const CalibratedCameras given(false, 0.7);
  const StereoCalibration calibration = read(given.write(folder));
  expect_rectification(make_rectification(calibration, 640, 480, -1), given);
  expect_rectification(make_rectification(calibration, 640, 480, 1), CalibratedCameras(false, 1));
}

// Scaling keeps the picture's outer edges, so x becomes factor·(x + ½) − ½ in the scaled map.
TEST(test_scaled) {
  for (const bool fisheye : {false, true})
    for (const double factor : {0.25, 0.5, 1.5, 2.0}) {
      Folder folder;
      CalibratedCameras cameras(fisheye, 0);
      const StereoCalibration calibration = read(cameras.write(folder));
      cameras.size = {static_cast<int>(640 * factor), static_cast<int>(480 * factor)};
      for (cv::Mat* matrix : {&cameras.m1, &cameras.m2, &cameras.p1, &cameras.p2}) {
        matrix->rowRange(0, 2) *= factor;
        for (int row : {0, 1})
          matrix->at<double>(row, 2) += factor / 2 - 0.5;
      }
      const Rectification found =
          make_rectification(calibration, cameras.size.width, cameras.size.height, -1);
      expect_nearly(found.left, cv_map(cameras, false));
      fail_unless(std::abs(found.focal_length - cameras.p1.at<double>(0, 0)) < 1e-9);
      fail_unless(std::abs(found.baseline - cv::norm(cameras.t)) < 1e-6);
    }
}

TEST(test_sizes_that_do_not_fit) {
  Folder folder;
  const CalibratedCameras cameras;
  const StereoCalibration calibration = read(cameras.write(folder));
  make_rectification(calibration, 321, 241, -1);  // one pixel more than half the size
  for (const auto& [width, height] :
       {std::pair{640, 360}, std::pair{1280, 480}, std::pair{480, 640}})
    expect_words(
        error_of([&, w = width, h = height] { make_rectification(calibration, w, h, -1); }),
        {"stereo.yml", "640×480", std::to_string(width) + "×" + std::to_string(height),
         "calibrate"});

  StereoCalibration sizeless = calibration;
  sizeless.width = sizeless.height = 0;
  expect_rectification(make_rectification(sizeless, 640, 480, -1), cameras);
  for (const int factor : {2, 3})
    expect_words(error_of([&, f = factor] { make_rectification(sizeless, 640 * f, 480 * f, -1); }),
                 {"stereo.yml", "image_width", "(322, 236)"});
}

// Distant points, whose coordinates may wrap at 16 bits in OpenCV's map, get (−1, −1).
TEST(test_distant_places) {
  Folder folder;
  CalibratedCameras cameras(true);
  // An angle of view above 180 degrees: points behind the camera have no coordinates.
  cv::Rodrigues(cv::Vec3d(0, 1.2, 0), cameras.r1);
  cameras.r2 = cameras.r1.clone();
  cameras.p1.at<double>(0, 0) = cameras.p1.at<double>(1, 1) = 60;
  cameras.p2 = cameras.p1.clone();
  cameras.p2.at<double>(0, 3) = -7200;
  const Rectification found =
      make_rectification(read(write(folder, "stereo.yml",
                                    [&](cv::FileStorage& file) {
                                      cameras.write_size(file);
                                      cameras.write_intrinsics(file);
                                      file << "R1" << cameras.r1 << "R2" << cameras.r2 << "P1"
                                           << cameras.p1 << "P2" << cameras.p2;
                                    })),
                         640, 480, -1);
  const CvMap map = cv_map(cameras, false);
  int behind = 0, strange = 0;
  for (std::size_t i = 0; i < found.left.fractions.size(); ++i) {
    const std::int16_t x = found.left.places[2 * i], y = found.left.places[2 * i + 1];
    if (x == map.places.ptr<std::int16_t>()[2 * i] &&
        y == map.places.ptr<std::int16_t>()[2 * i + 1])
      continue;
    ++behind;
    strange += x != -1 || y != -1 || found.left.fractions[i] != 0;
  }
  fail_unless_equals_int(strange, 0);
  fail_unless(behind > 1000, "only %d points are behind the camera", behind);
}

// A point at infinity has disparity 0 even if P1 and P2 have different principal points.
TEST(test_infinity) {
  Folder folder;
  CalibratedCameras cameras;
  const std::string file = write(folder, "stereo.yml", [&](cv::FileStorage& storage) {
    cameras.write_size(storage);
    cameras.write_intrinsics(storage);
    cv::Mat shifted = cameras.p2.clone();
    shifted.at<double>(0, 2) += 25;
    storage << "R1" << cameras.r1 << "R2" << cameras.r2 << "P1" << cameras.p1 << "P2" << shifted;
  });
  expect_map(make_rectification(read(file), 640, 480, -1).right, cv_map(cameras, true));
}

// The map of a chroma plane is OpenCV's, with matrices scaled to the centres of the chroma samples.
TEST(test_maps_of_planes) {
  for (const bool fisheye : {false, true}) {
    Folder folder;
    CalibratedCameras cameras(fisheye, 0);
    const Rectification rectification =
        make_rectification(read(cameras.write(folder)), 640, 480, -1);
    const RectifyingMap whole = make_plane_map(rectification.left_camera, 640, 480, 1, 1);
    fail_unless(whole.places == rectification.left.places &&
                whole.fractions == rectification.left.fractions);
    for (const auto& [columns, rows] : {std::pair{2, 2}, {2, 1}, {1, 2}}) {
      CalibratedCameras plane = cameras;
      plane.size = {640 / columns, 480 / rows};
      for (cv::Mat* matrix : {&plane.m1, &plane.p1}) {
        *matrix = matrix->clone();
        matrix->row(0) /= columns;
        matrix->row(1) /= rows;
        matrix->at<double>(0, 2) += 0.5 / columns - 0.5;
        matrix->at<double>(1, 2) += 0.5 / rows - 0.5;
      }
      const RectifyingMap found =
          make_plane_map(rectification.left_camera, 640 / columns, 480 / rows, columns, rows);
      expect_nearly(found, cv_map(plane, false));
    }
  }
}

// Only regular files are read, because a pipe would wait for a writer, and /dev/zero never ends.
TEST(test_files_that_are_not_regular) {
  Folder folder;
  const std::string pipe = folder.path("pipe.yml");
  fail_unless_equals_int(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& name : {pipe, std::string("/dev/zero"), std::string(g_get_tmp_dir())}) {
    expect_words(error_of([&] { read(name); }), {name, "not a regular file", "choose a file with"});
    expect_words(error_of([&] { read(name, name); }), {name, "not a regular file"});
  }
  unlink(pipe.c_str());
}

TEST(test_large_files) {
  Folder folder;
  std::string text = calibration_file_text(CalibratedCameras().write(folder));
  text += "# ";
  text.append(max_bytes - text.size() - 1, 'x');
  text += '\n';
  read(folder.write("large.yml", text));
  expect_words(error_of([&] { read(folder.write("larger.yml", text + "\n")); }),
               {"larger.yml", "larger than 4 MiB", "choose a file with"});
}

// Without the check of the nesting depth, the parser would overflow the stack.
TEST(test_nested_texts) {
  for (const int levels : {80000, 600})
    for (const std::string& text : nested_texts(levels)) {
      Folder folder;
      expect_words(error_of([&] { read(folder.write("nested.yml", text.substr(0, max_bytes))); }),
                   {"nested.yml", "levels deep", "choose a file with"});
    }
}

// Truncated texts and texts with null bytes are refused, because OpenCV 4.6 reads beyond their end.
TEST(test_texts_that_end_early) {
  Folder folder;
  const std::string xml = calibration_file_text(CalibratedCameras().write(folder, "whole.xml"));
  for (std::size_t i = 5; i + 1 < xml.find_last_not_of('\n'); i += i < 400 ? 1 : 97)
    expect_words(error_of([&] { read(folder.write("cut.xml", xml.substr(0, i))); }), {"cut.xml"});
  for (const char* text :
       {"<?xml version=\"1.0\"?>\n<opencv_storage>\n<M1 type_id=", "<?xml", "<?xml version=\"1.0\"",
        "<?xml version=\"1.0\"?>\n<opencv_storage>\n<M1 a=b></M1></opencv_storage>"})
    expect_words(error_of([&] { read(folder.write("cut.xml", text)); }),
                 {"that OpenCV can read (line "});
  for (const char* name : {"stereo.yml", "stereo.xml", "stereo.json"}) {
    std::string text = calibration_file_text(CalibratedCameras().write(folder, name));
    text[text.size() / 2] = '\0';
    expect_words(error_of([&] { read(folder.write(name, text)); }),
                 {name, "bytes of value 0", "choose a file with"});
  }
}

// Long files written by programs are accepted, with any line ends and with a byte order mark.
TEST(test_texts_of_programs) {
  Folder folder;
  const std::string pairs = times(5000, "[-1.5, 2e-07], ") + "[0, 0]";
  for (const char* name : {"stereo.yml", "stereo.xml", "stereo.json"}) {
    calibration_file_text(CalibratedCameras().write(folder, name));
    calibration_file_text(write(folder, name, [](cv::FileStorage& storage) {
      storage << "corners"
              << "[";
      for (int i = 0; i < 1000; ++i)
        storage << std::vector<double>{-1.5, 2.5e-7} << "{"
                << "name"
                << "left.png"
                << "}";
      storage << "]";
    }));
  }
  for (const std::string& text :
       {"{\"path\": \"a/b\", \"corners\": [" + pairs + "]}", "corners: [" + pairs + "]\n",
        "corners:\r\n  [" + pairs + "]\r\n"}) {
    fail_unless(calibration_file_text(folder.write("pairs", text)) == text);
    fail_unless(calibration_file_text(folder.write("pairs", "\xef\xbb\xbf" + text)) == text);
  }
}
