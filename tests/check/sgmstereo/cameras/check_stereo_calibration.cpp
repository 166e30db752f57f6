// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the parsing of calibrations. check_stereo_maps.cpp tests the maps.
#include <cmath>
#include <map>
#include <opencv2/calib3d.hpp>  // before gstcheck.h, which defines fail

#include "tests/check/common/messagelog.h"
#include "tests/check/common/testcase.h"
#include "tests/check/sgmstereo/cameras/calibratedcameras.h"

using namespace check;
using namespace cudavision;

namespace {

template <std::size_t count>
void expect_numbers(const std::array<double, count>& found, const cv::Mat& expected,
                    double tolerance = 0) {
  fail_unless_equals_int(expected.total(), count);
  for (std::size_t i = 0; i < count; ++i)
    fail_unless(
        std::abs(found[i] - expected.at<double>(static_cast<int>(i) / expected.cols,
                                                static_cast<int>(i) % expected.cols)) <= tolerance,
        "number %zu is %.17g", i, found[i]);
}

void expect_calibration(const StereoCalibration& found, const CalibratedCameras& cameras,
                        double tolerance = 0) {
  fail_unless((found.model == CameraModel::fisheye) == cameras.fisheye);
  expect_numbers(found.left.matrix, cameras.m1, tolerance);
  expect_numbers(found.right.matrix, cameras.m2, tolerance);
  fail_unless(cv::norm(cv::Mat(found.left.distortion).reshape(1, cameras.d1.rows), cameras.d1) <=
              tolerance);
  fail_unless(cv::norm(cv::Mat(found.right.distortion).reshape(1, cameras.d2.rows), cameras.d2) <=
              tolerance);
  expect_numbers(found.pose.rotation, cameras.r, tolerance);
  expect_numbers(found.pose.translation, cameras.t, tolerance * 100);
  if (!found.left.rectification)
    return;
  expect_numbers(found.left.rectification->rotation, cameras.r1, tolerance);
  expect_numbers(found.left.rectification->projection, cameras.p1, tolerance * 100);
  expect_numbers(found.right.rectification->projection, cameras.p2, tolerance * 1e5);
}

std::string list_of(const cv::Mat& matrix) {
  std::string text;
  for (auto number = matrix.begin<double>(); number != matrix.end<double>(); ++number) {
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    text +=
        (text.empty() ? "[" : ", ") + std::string(g_ascii_dtostr(digits, sizeof digits, *number));
  }
  return text + "]";
}

std::string matrix_text(const char* key, int rows, int columns, const std::string& data) {
  return std::string(key) + ":\n  rows: " + std::to_string(rows) +
         "\n  cols: " + std::to_string(columns) + "\n  data: " + data + "\n";
}

std::string camera_info(const CalibratedCameras& cameras, bool right) {
  cv::Mat p = (right ? cameras.p2 : cameras.p1).clone();
  p.col(3) /= 1000;
  const cv::Mat d = (right ? cameras.d2 : cameras.d1).reshape(1, 1);
  const std::string model = cameras.fisheye ? "equidistant"
                            : d.cols == 8   ? "rational_polynomial"
                                            : "plumb_bob";
  return "# made by hand\nimage_width: 640\nimage_height: 480\ncamera_name: narrow_stereo\n" +
         matrix_text("camera_matrix", 3, 3, list_of(right ? cameras.m2 : cameras.m1)) +
         "distortion_model: " + model + "\n" +
         matrix_text("distortion_coefficients", 1, d.cols, list_of(d)) +
         matrix_text("rectification_matrix", 3, 3, list_of(right ? cameras.r2 : cameras.r1)) +
         matrix_text("projection_matrix", 3, 4, list_of(p));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  fail_unless(at != std::string::npos, "there is no \"%s\"", what.c_str());
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST(test_opencv_formats) {
  for (const bool fisheye : {false, true})
    for (const char* name : {"stereo.yml", "stereo.xml", "stereo.json", "a,comma.yml"}) {
      Folder folder;
      const CalibratedCameras cameras(fisheye);
      const StereoCalibration found = read(cameras.write(folder, name));
      expect_calibration(found, cameras);
      fail_unless(found.left.rectification && found.width == 640 && found.height == 480);
    }
}

// OpenCV's example stereo_calib writes two files, without a size.
TEST(test_opencv_in_two_files) {
  Folder folder;
  const CalibratedCameras cameras;
  const std::string intrinsics = write(
      folder, "intrinsics.yml", [&](cv::FileStorage& file) { cameras.write_intrinsics(file); });
  const std::string extrinsics = write(
      folder, "extrinsics.yml", [&](cv::FileStorage& file) { cameras.write_extrinsics(file); });
  const StereoCalibration found = read(intrinsics + "," + extrinsics);
  expect_calibration(found, cameras);
  fail_unless(found.left.rectification && found.width == 0);
  expect_words(error_of([&] { read(intrinsics); }), {"intrinsics.yml", "R is missing", "comma"});
  expect_words(error_of([&] { read(extrinsics); }), {"extrinsics.yml", "M1 is missing"});
  expect_words(error_of([&] { read(",,"); }), {",,: No such file", "choose a file"});
}

TEST(test_opencv_without_a_rectification) {
  Folder folder;
  const CalibratedCameras cameras;
  const StereoCalibration found = read(write(folder, "stereo.yml", [&](cv::FileStorage& file) {
    file << "imageSize" << cameras.size << "K1" << cameras.m1 << "distCoeffs1" << cameras.d1;
    file << "cameraMatrix2" << cameras.m2 << "D2" << cameras.d2;
    file << "R" << cameras.r << "T" << cameras.t;
  }));
  expect_calibration(found, cameras);
  fail_unless(!found.left.rectification && found.width == 640 && found.height == 480);
}

// R and T are derived from the rectification.
TEST(test_opencv_without_a_pose) {
  Folder folder;
  const CalibratedCameras cameras;
  const StereoCalibration found = read(write(folder, "stereo.yml", [&](cv::FileStorage& file) {
    file << "image_width" << 640 << "image_height" << 480 << "fisheye" << 0;
    cameras.write_intrinsics(file);
    file << "R1" << cameras.r1 << "R2" << cameras.r2 << "P1" << cameras.p1 << "P2" << cameras.p2;
  }));
  expect_calibration(found, cameras, 1e-12);
}

TEST(test_units) {
  const struct {
    double factor;
    const char* unit;
  } cases[] = {{1, nullptr}, {0.001, nullptr}, {1, "mm"}, {0.1, "cm"}, {0.001, "m"}};
  for (const auto& [factor, unit] : cases) {
    Folder folder;
    const CalibratedCameras cameras;
    const StereoCalibration found =
        read(write(folder, "stereo.yml", [&, factor = factor, unit = unit](cv::FileStorage& file) {
          cameras.write_intrinsics(file);
          cameras.write_extrinsics(file, factor);
          if (unit)
            file << "unit" << unit;
        }));
    expect_calibration(found, cameras, 1e-12);
  }
}

TEST(test_ros) {
  for (const char* header : {"", "---\n", "%YAML:1.0\n---\n", "\xef\xbb\xbf"})
    for (const bool fisheye : {false, true}) {
      Folder folder;
      const CalibratedCameras cameras(fisheye);
      const StereoCalibration found =
          read(folder.write("left.yaml", header + camera_info(cameras, false)),
               folder.write("right.yaml", header + camera_info(cameras, true)));
      expect_calibration(found, cameras, 1e-12);
      fail_unless(found.left.rectification && found.width == 640 && found.height == 480);
    }
}

// Reads ROS files with the rational model, CRLF line ends, and lists over several lines.
TEST(test_ros_variants) {
  Folder folder;
  CalibratedCameras cameras;
  cameras.d1 = (cv::Mat_<double>(1, 8) << 0.3, -0.2, 0.001, -0.002, 0.01, 0.6, -0.1, 0.02);
  cameras.d2 = (cv::Mat_<double>(1, 8) << 0.31, -0.19, 0.001, -0.001, 0.02, 0.61, -0.11, 0.03);
  cameras.rectify(-1);
  const auto text = [&](bool right) {
    std::string result = camera_info(cameras, right);
    for (std::size_t at = 0; (at = result.find('\n', at)) != std::string::npos; at += 2)
      result.replace(at, 1, "\r\n");
    return replaced(result, "data: [53", "data: [\r\n    53");
  };
  expect_calibration(read(folder.write("l.yaml", text(false)), folder.write("r.yaml", text(true))),
                     cameras, 1e-12);
}

/* Faults. Messages name the place of the fault and a remedy. */

TEST(test_faults_of_opencv_files) {
  struct Fault {
    const char* key;
    Writer writer;
    std::vector<std::string> words;
  };
  const CalibratedCameras cameras;
  const auto with = [](const char* key, const cv::Mat& matrix) {
    return [=](cv::FileStorage& file) { file << key << matrix; };
  };
  const auto number = [](const cv::Mat& matrix, int row, int column, double value) {
    cv::Mat changed = matrix.clone();
    changed.at<double>(row, column) = value;
    return changed;
  };
  const auto text = [](const char* key, const char* value) {
    return [=](cv::FileStorage& file) { file << key << value; };
  };
  const Writer nothing = [](cv::FileStorage&) {};
  const Fault faults[] = {
      {"M1", nothing, {"M1 is missing", "stereoCalibrate"}},
      {"D2", nothing, {"D2 is missing", "stereoCalibrate"}},
      {"R", nothing, {"R is missing", "stereoCalibrate"}},
      {"T", nothing, {"T is missing", "stereoCalibrate"}},
      {"P2", nothing, {"P2 is missing", "write R1, R2, P1 and P2"}},
      {"M1", with("M1", cv::Mat(cameras.m1.rowRange(0, 2))), {"M1 holds 6 numbers instead of 9"}},
      {"M2", with("M2", number(cameras.m2, 0, 0, 0)), {"M2 is not a camera matrix", "calibrate"}},
      {"M2", with("M2", number(cameras.m2, 1, 1, std::nan(""))), {"M2 holds a number", "finite"}},
      {"M1", text("M1", "none"), {"M1 holds a value that is not a number", "a matrix or a list"}},
      {"D1", with("D1", cv::Mat(cameras.d1.colRange(0, 3))), {"D1 holds 3 numbers", "pinhole"}},
      {"R", with("R", number(cameras.r, 0, 1, 0.5)), {"R is not a rotation matrix", "all digits"}},
      {"R1", with("R1", -cameras.r1), {"R1 is not a rotation matrix"}},
      {"P2", with("P2", number(cameras.p2, 1, 2, 300)), {"P2 and P1", "same fx", "300.00"}},
      {"P1", with("P1", number(cameras.p1, 0, 3, -900)), {"P1", "second camera", "exchange"}},
      {"P1", with("P1", number(cameras.p1, 2, 2, 2)), {"P1 is not a projection", "calibrate"}},
      {"P2", with("P2", number(cameras.p2, 0, 3, 900)), {"P2", "to the left", "exchange"}},
      {"T", with("T", -cameras.t), {"T", "to the left", "exchange"}},
      {"T", with("T", number(cameras.t, 1, 0, 500)), {"T", "above the other", "videoflip"}},
      {"T", with("T", cv::Mat::zeros(3, 1, CV_64F)), {"T", "the same place", "stereo pair"}},
      // OpenCV computes such a T from the pictures of a single camera.
      {"T", with("T", cv::Mat(1e-13 * cameras.t)), {"T", "the same place", "stereo pair"}},
      {"image_size",
       text("image_size", "640x480"),
       {"image_size is not a pair", "[ width, height"}},
      {"image_size", with("image_size", cv::Mat()), {"image_size is not a pair"}},
      {"image_size",
       [](cv::FileStorage& file) { file << "imageSize" << cv::Size(640, 0); },
       {"imageSize is not a whole number"}},
      {"image_size",
       [](cv::FileStorage& file) { file << "image_width" << 640; },
       {"image_height is missing", "both"}},
      {"model", text("distortion_model", "mirror"), {"distortion_model", "mirror", "pinhole"}},
      {"model", text("distortion_model", "fisheye"), {"D1 holds 5", "fisheye model has 4"}},
      {"model", text("fisheye", "yes"), {"fisheye is neither 0 nor 1"}},
      {"unit", text("unit", "inch"), {"unit", "inch", "\"mm\""}},
  };
  for (const Fault& fault : faults) {
    Folder folder;
    const std::string file = write(folder, "stereo.yml", [&](cv::FileStorage& storage) {
      const std::map<std::string, cv::Mat> matrices = {
          {"M1", cameras.m1}, {"D1", cameras.d1}, {"M2", cameras.m2}, {"D2", cameras.d2},
          {"R", cameras.r},   {"T", cameras.t},   {"R1", cameras.r1}, {"R2", cameras.r2},
          {"P1", cameras.p1}, {"P2", cameras.p2}};
      for (const auto& [key, matrix] : matrices)
        if (key != fault.key)
          storage << key << matrix;
      if (std::string(fault.key) != "image_size")
        cameras.write_size(storage);
      fault.writer(storage);
    });
    const std::string error = error_of([&] { read(file); });
    expect_words(error, {"stereo.yml"});
    expect_words(error, fault.words);
    fail_unless(error.back() == '.' && error.find(": ") != std::string::npos);
  }
}

// If a file is of the other kind, the error names the properties for its kind.
TEST(test_files_of_the_other_kind) {
  Folder folder;
  const CalibratedCameras cameras;
  const std::string both = cameras.write(folder, "both.yml");
  const std::string left = folder.write("left.yaml", camera_info(cameras, false));
  const std::string right = folder.write("right.yaml", camera_info(cameras, true));
  for (const std::string& one : {left, left + "," + right})
    expect_words(error_of([&] { read(one); }), {"left.yaml", "set calibration-left and"});
  expect_words(error_of([&] { read(left, both); }), {"both.yml", "set calibration instead"});
}

// Messages give the line in the file, even if a header was prepended to the text for the parser.
TEST(test_unreadable_lines) {
  struct Fault {
    const char *name, *text, *words;
  };
  for (const Fault& fault :
       {Fault{"plain.yml", "width: 640\nrows 3\n", "(line 2: "},
        Fault{"ros.yml", "---\nwidth: 640\nrows 3\n", "(line 3: "},
        Fault{"opencv.yml", "%YAML:1.0\n---\nwidth: 640\nrows 3\n", "(line 4: "},
        Fault{"tags.xml", "<?xml version=\"1.0\"?>\n<opencv_storage>\n<M1></M2>\n", "(line 3: "},
        Fault{"list.json", "{\n\"M1\": [1,}\n}\n", "(line 2: "}}) {
    Folder folder;
    const std::string file = folder.write(fault.name, fault.text);
    expect_words(error_of([&] { read(file); }), {fault.name, "OpenCV can read", fault.words});
  }
}

TEST(test_faults_of_ros_files) {
  const CalibratedCameras cameras;
  const std::string left = camera_info(cameras, false), right = camera_info(cameras, true);
  struct Fault {
    std::string left, right;
    std::vector<std::string> words;
  };
  const Fault faults[] = {
      {replaced(left, "image_width", "image_with"), right, {"left.yaml", "image_width is missing"}},
      {left,
       replaced(right, "camera_matrix", "camera"),
       {"right.yaml", "camera_matrix is missing"}},
      {left,
       replaced(right, "projection_matrix", "projection"),
       {"right.yaml", "projection_matrix is missing", "camera_calibration"}},
      {replaced(left, "plumb_bob", "mei"), right, {"left.yaml", "distortion_model", "\"mei\""}},
      {replaced(left, "plumb_bob", "equidistant"), right, {"distortion_coefficients holds 5", "4"}},
      {left,
       replaced(right, "image_width: 640", "image_width: 320"),
       {"right.yaml", "320×480", "640×480", "one size"}},
      {left,
       replaced(right, "image_width: 640", "image_width: wide"),
       {"right.yaml", "image_width is not a whole number"}},
      {right, left, {"left.yaml", "projection_matrix", "second camera", "exchange"}},
      {left, left, {"right.yaml", "projection_matrix", "same place", "stereo pair"}},
      {replaced(left, "rows: 3", "rows 3"), right, {"left.yaml", "OpenCV can read"}},
      {left, "\xff\xd8\xff\xe0 JFIF", {"right.yaml", "OpenCV can read"}},
  };
  for (const Fault& fault : faults) {
    Folder folder;
    const std::string left_file = folder.write("left.yaml", fault.left);
    const std::string right_file = folder.write("right.yaml", fault.right);
    expect_words(error_of([&] { read(left_file, right_file); }), fault.words);
  }
}

TEST(test_faults_of_names) {
  Folder folder;
  const std::string file = CalibratedCameras().write(folder);
  expect_words(error_of([&] { read("/nowhere/stereo.yml"); }), {"/nowhere/stereo.yml", "choose a"});
  expect_words(error_of([&] { read(file + ",/nowhere/b.yml"); }), {"/nowhere/b.yml"});
  expect_words(error_of([&] { read(file, ""); }), {"calibration-right", "set"});
  expect_words(error_of([&] { read("", file); }), {"calibration-left", "set"});
  expect_words(error_of([&] {
                 read_calibration({file.c_str(), file.c_str(), ""});
               }),
               {"calibration", "calibration-left", "either"});
  expect_words(error_of([&] { read(folder.write("empty.yml", "")); }),
               {"empty.yml", "M1 is missing"});
  expect_words(error_of([&] { read(g_get_tmp_dir()); }), {g_get_tmp_dir(), "choose a file"});
}
