// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

/// Owners for GStreamer's objects and locks. Passing an owner by value transfers the reference.
namespace cudavision {

struct UnrefMiniObject {
  void operator()(gpointer object) const { gst_mini_object_unref(GST_MINI_OBJECT_CAST(object)); }
};
using Caps = std::unique_ptr<GstCaps, UnrefMiniObject>;
using OwnedBuffer = std::unique_ptr<GstBuffer, UnrefMiniObject>;
using OwnedEvent = std::unique_ptr<GstEvent, UnrefMiniObject>;
using OwnedQuery = std::unique_ptr<GstQuery, UnrefMiniObject>;

struct FreeStructure {
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
using Structure = std::unique_ptr<GstStructure, FreeStructure>;

struct UnrefObject {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
template <class Object>
using ObjectPtr = std::unique_ptr<Object, UnrefObject>;

class ObjectLock {
 public:
  explicit ObjectLock(gpointer object) : object_(GST_OBJECT_CAST(object)) {
    GST_OBJECT_LOCK(object_);
  }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

 private:
  GstObject* const object_;
};

/// A value that is guarded by the object lock of a GstObject.
template <class T>
class ObjectLocked {
 public:
  explicit ObjectLocked(gpointer object) : object_(object) {}

  /// Gives access to the value, and holds the lock.
  class Access {
   public:
    T* operator->() const noexcept { return &value_; }

   private:
    friend class ObjectLocked;
    Access(gpointer object, T& value) : lock_(object), value_(value) {}

    const ObjectLock lock_;
    T& value_;
  };
  Access lock() { return Access(object_, value_); }
  /// Returns the value without a lock, for a function that locks the object itself.
  T& for_locking_function() noexcept { return value_; }

 private:
  const gpointer object_;
  T value_;
};

class StreamLock {
 public:
  explicit StreamLock(GstPad* pad) : pad_(pad) { GST_PAD_STREAM_LOCK(pad_); }
  ~StreamLock() { GST_PAD_STREAM_UNLOCK(pad_); }
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

 private:
  GstPad* const pad_;
};

}  // namespace cudavision
