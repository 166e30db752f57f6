// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/check/common/messagelog.h"
#include "tests/check/common/owned.h"
#include "tests/fuzz/actions.h"
#include "tests/fuzz/life.h"
#include "tests/fuzz/races/downstream.h"
#include "tests/fuzz/races/upstream.h"

namespace fuzz {

/// A Life of an element that several threads use: sources feed it, and the application and probes
/// change it. The threads avoid what GStreamer forbids: concurrent state changes or flushes.
class Race : public Life {
 public:
  Race(unsigned seed, check::BufferCount& buffers, check::Owned<GstElement> element,
       std::initializer_list<const char*> sink_pads);
  ~Race() override;

  void run() override;

 protected:
  GstElement* element() const { return element_; }
  virtual void act_downstream(check::Random& random) = 0;
  /// Sets properties with which the element must start.
  virtual void set_good_properties();
  /// Called in each round, after the start and before the stop.
  virtual void round_begins() {}
  virtual void round_ends() {}

  /// Calls acts() for a frame. Returns false if a restart or flush has discarded the frame.
  bool frame_leaves(const std::function<void(check::Random&)>& acts);

  // Actions. If they return false, another thread holds gate_, or no data has arrived.
  bool restart();
  void restart_elsewhere() { run_elsewhere(&Race::restart); }
  void seek_elsewhere() { run_elsewhere(&Race::flushing_seek); }
  bool pause();
  bool flushing_seek();
  void plain_seek();
  bool relink_before();
  bool relink_downstream();
  bool unlink_for_a_moment();
  bool relink_here();  ///< relinks in the thread that pushes
  void change_property();
  void mend_properties();
  void read();
  void query();
  void reconfigure();
  void rest();

  /// Returns random numbers for actions that may run in threads other than run()'s thread.
  check::Random new_random() { return check::Random(seed() * 7919 + ++draws_); }

 private:
  void start();
  void stop();
  void play();
  void run_elsewhere(bool (Race::*action)());
  void act_as_application();

  const check::Owned<GstElement> element_;
  check::MessageLog messages_;
  std::atomic<unsigned> errors_{0};  ///< number of ERROR messages so far
  const check::Owned<GstPad> source_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;
  std::unique_ptr<Downstream> downstream_;
  std::mutex gate_;        ///< held while changing the state, flushing or relinking
  std::mutex properties_;  ///< held while changing properties
  std::atomic<unsigned> draws_{0};
  std::atomic<unsigned> breaks_{0};  ///< restarts and flushes so far; they discard earlier frames
  std::mutex elsewhere_mutex_;
  std::condition_variable elsewhere_done_;
  int elsewhere_ = 0;  ///< number of actions pending in other threads
};

}  // namespace fuzz
