// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

/// Lets one call fail by which the elements ask the system or CUDA for something. A program that
/// links these files replaces parts of the C and C++ libraries, so they are not in the library of
/// the other tests.
namespace check {

enum class Calls {
  host_memory,  ///< those of operator new and aligned_alloc() that the plug-in itself makes
  cuda,         ///< those of the CUDA driver, no matter through which library they are made
};

enum class Duration {
  once,     ///< a single call fails
  lasting,  ///< all later calls fail as well, as those of CUDA do after a kernel has failed
};

/// Counts the calls of one kind while this lives, and lets the number-th of them fail (0: none).
/// There is at most one at a time.
class Fault {
 public:
  Fault(Calls calls, int number, Duration duration = Duration::once);
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  void end();

  /// Returns the name of the first call that failed; empty if there were fewer than `number`.
  const std::string& failed() const { return failed_; }
  bool happened() const { return !failed_.empty(); }
  int count() const { return count_; }

 private:
  std::string failed_;
  int count_ = 0;
  bool ended_ = false;
};

/// Returns how many things that such calls have made exist: blocks of memory, and of CUDA also
/// streams, events, graphs and contexts.
long things_alive(Calls calls);

long things_made(Calls calls);

/// Finds out where in memory the plug-in lies, whose calls of the allocator count. Call this once
/// the plug-in is loaded.
void find_plugin_code();

/* For the replaced functions */

/// Counts one call. Returns whether it is to fail. A call that `recovers` works again after it has
/// failed, however long the fault lasts.
bool call_fails(Calls calls, const char* name, bool recovers = false);

void note_thing(Calls calls, int change);

/// Returns what dlsym() gives in place of the driver's function with this name: one that counts and
/// may fail, or the function itself if it only asks for something that cannot fail.
void* counted_driver_function(const char* name, void* function);

}  // namespace check
