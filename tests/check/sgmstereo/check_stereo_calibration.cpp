// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests the reading of calibrations, and the maps that follow from them.
#include <glib/gstdio.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <opencv2/calib3d.hpp>

#include "gst/base/elementerror.h"
#include "gst/sgmstereo/rectification.h"
#include "tests/check/common/messagelog.h"
#include "tests/check/common/testcase.h"

using namespace check;
using namespace cudavision;

namespace {

/// A folder that is removed with its files.
class Folder {
 public:
  Folder() : path_(g_dir_make_tmp("calibration-XXXXXX", nullptr)) { fail_unless(path_ != nullptr); }
  ~Folder() {
    for (const std::string& file : files_)
      g_remove(file.c_str());
    g_rmdir(path_);
    g_free(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) {
    files_.push_back(std::string(path_) + "/" + name);
    return files_.back();
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string file = path(name);
    fail_unless(
        g_file_set_contents(file.c_str(), text.c_str(), static_cast<gssize>(text.size()), nullptr));
    return file;
  }

 private:
  gchar* path_;
  std::vector<std::string> files_;
};

/// Two cameras 120 mm apart, which do not look in quite the same direction.
struct Cameras {
  cv::Mat m1 = (cv::Mat_<double>(3, 3) << 530, 0, 322, 0, 531, 236, 0, 0, 1);
  cv::Mat m2 = (cv::Mat_<double>(3, 3) << 534, 0, 318, 0, 533, 243, 0, 0, 1);
  cv::Mat d1 = (cv::Mat_<double>(1, 5) << -0.27, 0.08, 0.001, -0.0005, -0.01);
  cv::Mat d2 = (cv::Mat_<double>(1, 5) << -0.26, 0.07, -0.001, 0.0007, -0.008);
  cv::Mat r, t = (cv::Mat_<double>(3, 1) << -119.9, 2.0, -3.0);
  cv::Size size{640, 480};
  bool fisheye = false;
  cv::Mat r1, r2, p1, p2, q;

  explicit Cameras(bool is_fisheye = false, double alpha = -1) : fisheye(is_fisheye) {
    cv::Rodrigues(cv::Vec3d(0.01, -0.02, 0.015), r);
    if (fisheye) {
      d1 = (cv::Mat_<double>(4, 1) << -0.02, 0.01, -0.005, 0.001);
      d2 = (cv::Mat_<double>(4, 1) << -0.015, 0.008, -0.004, 0.0008);
    }
    rectify(alpha);
  }

  void rectify(double alpha) {
    if (fisheye)
      cv::fisheye::stereoRectify(m1, d1, m2, d2, size, r, t, r1, r2, p1, p2, q,
                                 cv::CALIB_ZERO_DISPARITY, size, std::max(alpha, 0.0));
    else
      cv::stereoRectify(m1, d1, m2, d2, size, r, t, r1, r2, p1, p2, q, cv::CALIB_ZERO_DISPARITY,
                        alpha);
  }

  void write_intrinsics(cv::FileStorage& file) const {
    file << "M1" << m1 << "D1" << d1 << "M2" << m2 << "D2" << d2;
    if (fisheye)
      file << "distortion_model"
           << "fisheye";
  }
  void write_extrinsics(cv::FileStorage& file, double unit = 1) const {
    cv::Mat scaled = p2.clone();
    scaled.col(3) *= unit;
    file << "R" << r << "T" << cv::Mat(t * unit) << "R1" << r1 << "R2" << r2 << "P1" << p1 << "P2"
         << scaled << "Q" << q;
  }
  void write_size(cv::FileStorage& file) const { file << "image_size" << size; }

  std::string write(Folder& folder, const std::string& name = "stereo.yml") const {
    const std::string path = folder.path(name);
    cv::FileStorage file(path, cv::FileStorage::WRITE);
    write_size(file);
    write_intrinsics(file);
    write_extrinsics(file);
    return path;
  }
};

using Writer = std::function<void(cv::FileStorage&)>;

std::string write(Folder& folder, const std::string& name, const Writer& writer) {
  const std::string path = folder.path(name);
  cv::FileStorage file(path, cv::FileStorage::WRITE);
  writer(file);
  return path;
}

StereoCalibration read(const std::string& files) {
  return read_calibration({files.c_str(), "", ""});
}
StereoCalibration read(const std::string& left, const std::string& right) {
  return read_calibration({"", left.c_str(), right.c_str()});
}

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

void expect_calibration(const StereoCalibration& found, const Cameras& cameras,
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

/// Runs something that must throw, and returns the message.
std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const ElementError& e) {
    return e.what();
  }
  ck_abort_msg("no error");
  return {};
}

/* ROS's files */

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

/// Writes a camera_info as ROS does, without a header.
std::string camera_info(const Cameras& cameras, bool right) {
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

/* Maps */

struct CvMap {
  cv::Mat places, fractions;
};

CvMap cv_map(const Cameras& cameras, bool right) {
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
      "other places");
  fail_unless(std::equal(found.fractions.begin(), found.fractions.end(),
                         expected.fractions.ptr<std::uint16_t>()),
              "other fractions");
}

void expect_rectification(const Rectification& found, const Cameras& cameras) {
  expect_map(found.left, cv_map(cameras, false));
  expect_map(found.right, cv_map(cameras, true));
  fail_unless(found.focal_length == cameras.p1.at<double>(0, 0));
  fail_unless(std::abs(found.baseline - cv::norm(cameras.t)) < 1e-9 * found.baseline,
              "baseline %.17g", found.baseline);
  // OpenCV's Q has the same numbers, if it is that of the maps' own rectification.
  const auto q = [&](int row, int column) { return cameras.q.at<double>(row, column); };
  fail_unless(found.center_x == -q(0, 3) && found.center_y == -q(1, 3));
  fail_unless(found.focal_length == q(2, 3) && std::abs(1 / found.baseline - q(3, 2)) < 1e-9);
}

}  // namespace

/* The forms of calibrations */

TEST(test_opencv_formats) {
  for (const bool fisheye : {false, true})
    for (const char* name : {"stereo.yml", "stereo.xml", "stereo.json", "a,comma.yml"}) {
      Folder folder;
      const Cameras cameras(fisheye);
      const StereoCalibration found = read(cameras.write(folder, name));
      expect_calibration(found, cameras);
      fail_unless(found.left.rectification && found.width == 640 && found.height == 480);
    }
}

// OpenCV's example stereo_calib writes two files, without a size.
TEST(test_opencv_in_two_files) {
  Folder folder;
  const Cameras cameras;
  const std::string intrinsics = write(
      folder, "intrinsics.yml", [&](cv::FileStorage& file) { cameras.write_intrinsics(file); });
  const std::string extrinsics = write(
      folder, "extrinsics.yml", [&](cv::FileStorage& file) { cameras.write_extrinsics(file); });
  const StereoCalibration found = read(intrinsics + "," + extrinsics);
  expect_calibration(found, cameras);
  fail_unless(found.left.rectification && found.width == 0);
  expect_words(error_of([&] { read(intrinsics); }), {"intrinsics.yml", "R is missing", "comma"});
  expect_words(error_of([&] { read(extrinsics); }), {"extrinsics.yml", "M1 is missing"});
}

TEST(test_opencv_without_a_rectification) {
  Folder folder;
  const Cameras cameras;
  const StereoCalibration found = read(write(folder, "stereo.yml", [&](cv::FileStorage& file) {
    file << "imageSize" << cameras.size << "K1" << cameras.m1 << "distCoeffs1" << cameras.d1;
    file << "cameraMatrix2" << cameras.m2 << "D2" << cameras.d2;
    file << "R" << cameras.r << "T" << cameras.t;
  }));
  expect_calibration(found, cameras);
  fail_unless(!found.left.rectification && found.width == 640 && found.height == 480);
}

// R and T follow from the rectification.
TEST(test_opencv_without_a_pose) {
  Folder folder;
  const Cameras cameras;
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
    const Cameras cameras;
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
      const Cameras cameras(fisheye);
      const StereoCalibration found =
          read(folder.write("left.yaml", header + camera_info(cameras, false)),
               folder.write("right.yaml", header + camera_info(cameras, true)));
      expect_calibration(found, cameras, 1e-12);
      fail_unless(found.left.rectification && found.width == 640 && found.height == 480);
    }
}

// ROS's rational model, line ends of other systems, and lists over several lines.
TEST(test_ros_variants) {
  Folder folder;
  Cameras cameras;
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

/* Faults. Every message names the file, the key and a remedy. */

TEST(test_faults_of_opencv_files) {
  struct Fault {
    const char* key;
    Writer writer;
    std::vector<const char*> words;
  };
  const Cameras cameras;
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
      {"M2", with("M2", number(cameras.m2, 0, 0, 0)), {"M2 is no camera matrix", "calibrate"}},
      {"M2", with("M2", number(cameras.m2, 1, 1, std::nan(""))), {"M2 holds a number", "finite"}},
      {"M1", text("M1", "none"), {"M1 holds something that is not a number", "a matrix or a list"}},
      {"D1", with("D1", cv::Mat(cameras.d1.colRange(0, 3))), {"D1 holds 3 numbers", "pinhole"}},
      {"R", with("R", number(cameras.r, 0, 1, 0.5)), {"R is no rotation", "all digits"}},
      {"R1", with("R1", -cameras.r1), {"R1 is no rotation"}},
      {"P2", with("P2", number(cameras.p2, 1, 2, 300)), {"P2 and P1", "differ", "rectification"}},
      {"P1", with("P1", number(cameras.p1, 0, 3, -900)), {"P1", "second camera", "exchange"}},
      {"P1", with("P1", number(cameras.p1, 2, 2, 2)), {"P1 is no projection", "rectify"}},
      {"P2", with("P2", number(cameras.p2, 0, 3, 900)), {"P2", "to the left", "exchange"}},
      {"T", with("T", -cameras.t), {"T", "to the left", "exchange"}},
      {"T", with("T", number(cameras.t, 1, 0, 500)), {"T", "above the other", "videoflip"}},
      {"T", with("T", cv::Mat::zeros(3, 1, CV_64F)), {"T", "the same place", "stereo pair"}},
      {"image_size",
       text("image_size", "640x480"),
       {"image_size is not a pair", "[ width, height"}},
      {"image_size", with("image_size", cv::Mat()), {"image_size is not a pair"}},
      {"image_size",
       [](cv::FileStorage& file) { file << "imageSize" << cv::Size(640, 0); },
       {"imageSize is not a size"}},
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
    for (const char* words : fault.words)
      fail_unless(error.find(words) != std::string::npos, "\"%s\" lacks \"%s\"", error.c_str(),
                  words);
    fail_unless(error.back() == '.' && error.find(": ") != std::string::npos);
  }
}

TEST(test_faults_of_ros_files) {
  const Cameras cameras;
  const std::string left = camera_info(cameras, false), right = camera_info(cameras, true);
  struct Fault {
    std::string left, right;
    std::vector<const char*> words;
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
       {"right.yaml", "320x480", "640x480", "one size"}},
      {left,
       replaced(right, "image_width: 640", "image_width: wide"),
       {"right.yaml", "image_width is not a size"}},
      {right, left, {"left.yaml", "projection_matrix", "second camera", "exchange"}},
      {left, left, {"right.yaml", "projection_matrix", "same place", "stereo pair"}},
      {replaced(left, "rows: 3", "rows 3"), right, {"left.yaml", "OpenCV can read"}},
      {left, "\xff\xd8\xff\xe0 JFIF", {"right.yaml", "OpenCV can read"}},
  };
  for (const Fault& fault : faults) {
    Folder folder;
    const std::string left_file = folder.write("left.yaml", fault.left);
    const std::string right_file = folder.write("right.yaml", fault.right);
    const std::string error = error_of([&] { read(left_file, right_file); });
    for (const char* words : fault.words)
      fail_unless(error.find(words) != std::string::npos, "\"%s\" lacks \"%s\"", error.c_str(),
                  words);
  }
}

TEST(test_faults_of_names) {
  Folder folder;
  const std::string file = Cameras().write(folder);
  expect_words(error_of([&] { read("/nowhere/stereo.yml"); }), {"/nowhere/stereo.yml", "name a"});
  expect_words(error_of([&] { read(file + ",/nowhere/b.yml"); }), {"/nowhere/b.yml"});
  expect_words(error_of([&] { read(file, ""); }), {"calibration-right", "set"});
  expect_words(error_of([&] { read("", file); }), {"calibration-left", "set"});
  expect_words(error_of([&] {
                 read_calibration({file.c_str(), file.c_str(), ""});
               }),
               {"calibration", "calibration-left", "either"});
  expect_words(error_of([&] { read(folder.write("empty.yml", "")); }),
               {"empty.yml", "M1 is missing"});
  expect_words(error_of([&] { read(g_get_tmp_dir()); }), {g_get_tmp_dir(), "name a file"});
}

/* Maps */

TEST(test_maps_are_those_of_opencv) {
  for (const bool fisheye : {false, true}) {
    Folder folder;
    const Cameras cameras(fisheye);
    const StereoCalibration calibration = read(cameras.write(folder));
    expect_rectification(make_rectification(calibration, 640, 480, -1), cameras);
    for (const double alpha : {0.0, 0.4, 1.0})
      expect_rectification(make_rectification(calibration, 640, 480, alpha),
                           Cameras(fisheye, alpha));
  }
}

// The rectification of the files is taken unless alpha asks for another.
TEST(test_rectification_of_the_files) {
  Folder folder;
  const Cameras given(false, 0.7);
  const StereoCalibration calibration = read(given.write(folder));
  expect_rectification(make_rectification(calibration, 640, 480, -1), given);
  expect_rectification(make_rectification(calibration, 640, 480, 1), Cameras(false, 1));
}

// The edges of scaled pictures stay where they are, and with them the places of the map.
TEST(test_scaled) {
  for (const bool fisheye : {false, true})
    for (const double factor : {0.25, 0.5, 1.5, 2.0}) {
      Folder folder;
      Cameras cameras(fisheye, 0);
      const StereoCalibration calibration = read(cameras.write(folder));
      cameras.size = {static_cast<int>(640 * factor), static_cast<int>(480 * factor)};
      for (cv::Mat* matrix : {&cameras.m1, &cameras.m2, &cameras.p1, &cameras.p2}) {
        matrix->rowRange(0, 2) *= factor;
        for (int row : {0, 1})
          matrix->at<double>(row, 2) += factor / 2 - 0.5;
      }
      const Rectification found =
          make_rectification(calibration, cameras.size.width, cameras.size.height, -1);
      const CvMap left = cv_map(cameras, false);
      // The last digits of the matrices may differ, and so may a place that lies between two.
      int different = 0;
      for (std::size_t i = 0; i < found.left.fractions.size(); ++i)
        different += found.left.fractions[i] != left.fractions.ptr<std::uint16_t>()[i];
      fail_unless(different < static_cast<int>(found.left.fractions.size()) / 1000, "%d differ",
                  different);
      fail_unless(std::abs(found.focal_length - cameras.p1.at<double>(0, 0)) < 1e-9);
      fail_unless(std::abs(found.baseline - cv::norm(cameras.t)) < 1e-6);
    }
}

TEST(test_sizes_that_do_not_fit) {
  Folder folder;
  const Cameras cameras;
  const StereoCalibration calibration = read(cameras.write(folder));
  make_rectification(calibration, 321, 241, -1);  // as a scaler may have rounded it
  for (const auto& [width, height] :
       {std::pair{640, 360}, std::pair{1280, 480}, std::pair{480, 640}})
    expect_words(
        error_of([&, w = width, h = height] { make_rectification(calibration, w, h, -1); }),
        {"stereo.yml", "640x480", std::to_string(width) + "x" + std::to_string(height),
         "calibrate"});

  StereoCalibration sizeless = calibration;
  sizeless.width = sizeless.height = 0;
  expect_rectification(make_rectification(sizeless, 640, 480, -1), cameras);
  for (const int factor : {2, 3})
    expect_words(error_of([&, f = factor] { make_rectification(sizeless, 640 * f, 480 * f, -1); }),
                 {"stereo.yml", "image_width", "(322, 236)"});
}

// OpenCV's numbers of places that are further away than 16 bits reach may lie in the picture.
TEST(test_distant_places) {
  Folder folder;
  Cameras cameras(true);
  // An angle of view of more than 180 degrees: what lies behind the camera has no place.
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
  fail_unless(behind > 1000, "only %d places are behind the camera", behind);
}

// A point at infinity has disparity 0 even if the files put it elsewhere.
TEST(test_infinity) {
  Folder folder;
  Cameras cameras;
  const std::string file = write(folder, "stereo.yml", [&](cv::FileStorage& storage) {
    cameras.write_size(storage);
    cameras.write_intrinsics(storage);
    cv::Mat shifted = cameras.p2.clone();
    shifted.at<double>(0, 2) += 25;
    storage << "R1" << cameras.r1 << "R2" << cameras.r2 << "P1" << cameras.p1 << "P2" << shifted;
  });
  expect_map(make_rectification(read(file), 640, 480, -1).right, cv_map(cameras, true));
}
