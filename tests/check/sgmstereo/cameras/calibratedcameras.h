// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <glib.h>

#include <functional>
#include <opencv2/calib3d.hpp>
#include <string>
#include <vector>

#include "gst/sgmstereo/rectification/calibration.h"

namespace check {

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name);
  std::string write(const std::string& name, const std::string& text);

 private:
  gchar* path_;
  std::vector<std::string> files_;
};

struct CalibratedCameras {
  cv::Mat m1 = (cv::Mat_<double>(3, 3) << 530, 0, 322, 0, 531, 236, 0, 0, 1);
  cv::Mat m2 = (cv::Mat_<double>(3, 3) << 534, 0, 318, 0, 533, 243, 0, 0, 1);
  cv::Mat d1 = (cv::Mat_<double>(1, 5) << -0.27, 0.08, 0.001, -0.0005, -0.01);
  cv::Mat d2 = (cv::Mat_<double>(1, 5) << -0.26, 0.07, -0.001, 0.0007, -0.008);
  cv::Mat r, t = (cv::Mat_<double>(3, 1) << -119.9, 2.0, -3.0);
  cv::Size size{640, 480};
  bool fisheye = false;
  cv::Mat r1, r2, p1, p2, q;

  explicit CalibratedCameras(bool is_fisheye = false, double alpha = -1);

  void rectify(double alpha);
  void write_intrinsics(cv::FileStorage& file) const;
  void write_extrinsics(cv::FileStorage& file, double unit = 1) const;
  void write_size(cv::FileStorage& file) const;
  std::string write(Folder& folder, const std::string& name = "stereo.yml") const;
};

using Writer = std::function<void(cv::FileStorage&)>;

std::string write(Folder& folder, const std::string& name, const Writer& writer);

cudavision::StereoCalibration read(const std::string& files);
cudavision::StereoCalibration read(const std::string& left, const std::string& right);

/// Returns the error message of a function that must throw.
std::string error_of(const std::function<void()>& body);

}  // namespace check
