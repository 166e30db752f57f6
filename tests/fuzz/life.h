// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <functional>
#include <memory>

#include "tests/check/common/faults/memoryuse.h"
#include "tests/check/common/pictures/random.h"

/// An episode does to an element anything that a pipeline could do, in random order. The element
/// must not crash, hang or leak, and must report every failure as an element error. As long as all
/// input is valid, every output frame must be right.
///
/// CUDAVISION_FUZZ_SEED: the number of the first episode; a failed episode's number repeats it.
/// CUDAVISION_FUZZ_SECONDS: the time for each element (default 2; 30 in a full run). On a busy
/// machine, run_lives() extends this time.
namespace fuzz {

class Life : protected check::Random {
 public:
  Life(unsigned seed, check::BufferCount& buffers)
      : check::Random(seed), seed_(seed), buffers_(buffers) {}
  virtual ~Life() = default;
  virtual void run() = 0;

 protected:
  unsigned seed() const { return seed_; }
  GstBuffer* tracked(GstBuffer* buffer) { return buffers_.track(buffer); }
  check::BufferCount& buffers() { return buffers_; }

 private:
  unsigned seed_;
  check::BufferCount& buffers_;
};

/// Runs episodes for the configured time; then, for up to 150 s in all, until 25 episodes and all
/// actions have run. Checks for leaks. A failure, crash or hang prints the episode's number.
void run_lives(
    const std::function<std::unique_ptr<Life>(unsigned seed, check::BufferCount&)>& make);

template <class SomeLife>
void run_episodes() {
  run_lives([](unsigned seed, check::BufferCount& buffers) -> std::unique_ptr<Life> {
    return std::make_unique<SomeLife>(seed, buffers);
  });
}

}  // namespace fuzz
