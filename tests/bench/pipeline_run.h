// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "gst/core/scoped.h"
#include "tests/bench/pipeline_subjects.h"

namespace cudavision::bench {

struct Options {
  std::string backend;   ///< backend of this project's elements: auto, cpu or cuda
  int frames_in_flight;  ///< for this project's elements, unless the subject sets it
  double seconds;        ///< measuring time per row
};

class MissingElement : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

double processor_seconds();

class PipelineRun {
 public:
  /// Throws MissingElement, or std::runtime_error if the elements cannot start or refuse the caps.
  PipelineRun(const PipelineSubject& subject, const Options& options);
  ~PipelineRun();

  void push();
  /// Pushes frames at the subject's pace until `stop` is set.
  void push_until(const std::atomic<bool>& stop);
  std::uint64_t outputs() const { return outputs_; }

  struct Rates {
    double frames_per_second;
    double host_microseconds;  ///< processor time per frame, summed over all threads
  };
  Rates measure(double seconds);

  /// Sends EOS and waits until no frame is in flight. Nothing can be pushed afterwards.
  void end();

  int elements() const { return elements_; }  ///< number of measured elements
  std::string active_backend() const;         ///< "-" if no element has a backend
  std::size_t input_bytes() const { return info_.size * sources_.size(); }  ///< all inputs
  std::size_t output_bytes() const { return size_; }  ///< bytes of the latest output

 private:
  void link_sources();
  void send_caps();
  void prepare_frames();
  GstBuffer* new_frame();
  void take_proposed_pool();
  GstBuffer* buffer_of_frame(std::size_t number) const;
  std::runtime_error failure(const std::string& sentence) const;

  const PipelineSubject subject_;
  ObjectPtr<GstElement> pipeline_;
  std::vector<ObjectPtr<GstElement>> ours_;  // elements with a backend
  int elements_ = 0;
  std::vector<ObjectPtr<GstPad>> sources_;
  Caps caps_;
  GstVideoInfo info_;
  ObjectPtr<GstBufferPool> pool_;
  std::vector<OwnedBuffer> frames_;
  std::uint64_t pushed_ = 0;  // number of frames
  std::atomic<std::uint64_t> outputs_{0};
  std::atomic<std::size_t> size_{0};
};

}  // namespace cudavision::bench
