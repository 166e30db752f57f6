// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/sgmstereo/cameras/calibratedcameras.h"

#include <glib/gstdio.h>

#include <algorithm>

#include "gst/core/elementerror.h"
#include "tests/check/common/testcase.h"

namespace check {

Folder::Folder() : path_(g_dir_make_tmp("calibration-XXXXXX", nullptr)) {
  fail_unless(path_ != nullptr);
}

Folder::~Folder() {
  for (const std::string& file : files_)
    g_remove(file.c_str());
  g_rmdir(path_);
  g_free(path_);
}

std::string Folder::path(const std::string& name) {
  files_.push_back(std::string(path_) + "/" + name);
  return files_.back();
}

std::string Folder::write(const std::string& name, const std::string& text) {
  const std::string file = path(name);
  fail_unless(g_file_set_contents(file.c_str(), text.c_str(), text.size(), nullptr));
  return file;
}

CalibratedCameras::CalibratedCameras(bool is_fisheye, double alpha) : fisheye(is_fisheye) {
  cv::Rodrigues(cv::Vec3d(0.01, -0.02, 0.015), r);
  if (fisheye) {
    d1 = (cv::Mat_<double>(4, 1) << -0.02, 0.01, -0.005, 0.001);
    d2 = (cv::Mat_<double>(4, 1) << -0.015, 0.008, -0.004, 0.0008);
  }
  rectify(alpha);
}

void CalibratedCameras::rectify(double alpha) {
  if (fisheye)
    cv::fisheye::stereoRectify(m1, d1, m2, d2, size, r, t, r1, r2, p1, p2, q,
                               cv::CALIB_ZERO_DISPARITY, size, std::max(alpha, 0.0));
  else
    cv::stereoRectify(m1, d1, m2, d2, size, r, t, r1, r2, p1, p2, q, cv::CALIB_ZERO_DISPARITY,
                      alpha);
}

void CalibratedCameras::write_intrinsics(cv::FileStorage& file) const {
  file << "M1" << m1 << "D1" << d1 << "M2" << m2 << "D2" << d2;
  if (fisheye)
    file << "distortion_model"
         << "fisheye";
}

void CalibratedCameras::write_extrinsics(cv::FileStorage& file, double unit) const {
  cv::Mat scaled = p2.clone();
  scaled.col(3) *= unit;
  file << "R" << r << "T" << cv::Mat(t * unit) << "R1" << r1 << "R2" << r2 << "P1" << p1 << "P2"
       << scaled << "Q" << q;
}

void CalibratedCameras::write_size(cv::FileStorage& file) const {
  file << "image_size" << size;
}

std::string CalibratedCameras::write(Folder& folder, const std::string& name) const {
  const std::string path = folder.path(name);
  cv::FileStorage file(path, cv::FileStorage::WRITE);
  write_size(file);
  write_intrinsics(file);
  write_extrinsics(file);
  return path;
}

std::string write(Folder& folder, const std::string& name, const Writer& writer) {
  const std::string path = folder.path(name);
  cv::FileStorage file(path, cv::FileStorage::WRITE);
  writer(file);
  return path;
}

cudavision::StereoCalibration read(const std::string& files) {
  return cudavision::read_calibration({files.c_str(), "", ""});
}
cudavision::StereoCalibration read(const std::string& left, const std::string& right) {
  return cudavision::read_calibration({"", left.c_str(), right.c_str()});
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const cudavision::ElementError& e) {
    return e.what();
  }
  ck_abort_msg("no error");
  return {};
}

}  // namespace check
