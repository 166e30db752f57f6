// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

/// Makes calls of the allocator or the CUDA driver fail. Programs that link these files replace
/// parts of the C and C++ libraries.
namespace check {

enum class Calls {
  host_memory,  ///< operator new and aligned_alloc(), if the plug-in itself calls them
  cuda,         ///< the CUDA driver's functions, called by any library
};

enum class Duration {
  once,     ///< a single call fails
  lasting,  ///< later calls but context pushes fail, too, as in CUDA after a failed kernel
};

/// Counts calls of one kind and makes call `number` fail (0: none). Only one Fault may be active.
class Fault {
 public:
  Fault(Calls calls, int number, Duration duration = Duration::once);
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  void end();

  /// After end(), returns the name of the first failed call, or an empty string.
  const std::string& failed() const { return failed_; }
  bool happened() const { return !failed_.empty(); }
  int count() const { return count_; }

 private:
  std::string failed_;
  int count_ = 0;
  bool ended_ = false;
};

/// Returns how many resources of these calls exist: blocks, streams, events, graphs, contexts.
long resources_alive(Calls calls);

long resources_made(Calls calls);

/// Finds the code of the loaded plug-in, so that its allocator calls are counted.
void find_plugin_code();

/* For functions that replace the allocator's and the driver's */

/// The address range of a library's code. The library's calls return to this range.
class CodeRange {
 public:
  void find(const char* library);
  bool contains(const void* address) const;

 private:
  std::atomic<std::uintptr_t> begin_{0}, end_{0};
};

/// Counts a call and returns whether it must fail. A call that `recovers` fails at most once.
bool call_fails(Calls calls, const char* name, bool recovers = false);

void note_resource(Calls calls, int change);

/// Returns the counting function that replaces `function`, or `function` if it is not in the table.
void* counted_driver_function(const char* name, void* function);

}  // namespace check
