// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/memory/mappedbuffer.h"

#include <algorithm>
#include <string>

#include "gst/core/elementerror.h"
#include "gst/memory/cudastream.h"
#include "gst/memory/pinnedallocator.h"

namespace cudavision {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, what);
}

// Returns the page-locked part of mapped host memory.
ByteRange locked_bytes(const GstMapInfo& map, PageLocks* page_locks) {
  if (map.memory && is_page_locked_memory(map.memory))
    return {map.data, map.data + map.size};
  return map.memory && page_locks ? page_locks->note(map) : ByteRange{};
}

}  // namespace

MappedBuffer::MappedBuffer(GstBuffer* buffer, const FrameFormat& format, GstMapFlags access)
    : buffer_(buffer), format_(format), flags_(access) {
  if (gst_buffer_n_memory(buffer_) == 0)
    refuse_size();
  if (format_.is_video())
    meta_ = gst_buffer_get_video_meta(buffer_);
  if (meta_)
    check_meta();
}

MappedBuffer::MappedBuffer(GstBuffer* buffer, const FrameFormat& format, GstMapFlags access,
                           const CudaContext& context, PageLocks* page_locks)
    : MappedBuffer(buffer, format, access) {
  examine_memory(context);
  map();  // if this throws, the destructor runs, because the other constructor has returned
  owned_.reset(gst_buffer_ref(buffer_));  // after map(), because a shared buffer is not writable
  if (on_device_)
    return;
  if (on_peer_)
    finish_peers_work();
  else
    find_locked_rows(page_locks);
}

void MappedBuffer::require_whole_frame(GstBuffer* buffer, const FrameFormat& format) {
  const MappedBuffer unmapped(buffer, format, GST_MAP_READ);
  const Planes planes = unmapped.planes();
  const gsize size = gst_buffer_get_size(buffer);
  for (int p = 0; p < format.storage.frame.plane_count; ++p)
    if (planes.offset[p] > size ||
        !unmapped.is_within(p, static_cast<gint64>(planes.offset[p]), planes.stride[p], size))
      unmapped.refuse_size();
}

// Does not trust the caps: cudadownload may pass CUDA memory through with caps of system memory.
void MappedBuffer::examine_memory(const CudaContext& context) {
  const guint count = gst_buffer_n_memory(buffer_);
  on_device_ = static_cast<bool>(context);
  on_peer_ = context && (flags_ & GST_MAP_READ);
  for (guint i = 0; i < count; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer_, i);
    const bool cuda = is_cuda_memory(memory);
    on_device_ = on_device_ && cuda && cuda_context_of(memory) == context;
    on_peer_ = on_peer_ && cuda && can_copy_from(context, cuda_context_of(memory));
  }
  if (on_device_ || on_peer_)
    flags_ = static_cast<GstMapFlags>(flags_ | cuda_map_flag());
}

void MappedBuffer::map() {
  if (meta_) {
    if (map_planes_by_meta())
      return;
    // A plane may span several memories, which map_whole() merges.
    unmap();
    if (gst_buffer_n_memory(buffer_) == 1)
      refuse_size();
  }
  map_whole();
}

// Call this after mapping, which may enqueue a copy.
void MappedBuffer::finish_peers_work() const {
  for (guint i = 0; i < gst_buffer_n_memory(buffer_); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer_, i);
    synchronize_cuda_memory(memory);
    finish_default_stream(cuda_context_of(memory));
  }
}

// Examines the mapped memory, because mapping may have copied the buffer's memory.
void MappedBuffer::find_locked_rows(PageLocks* page_locks) {
  ByteRange locked;
  for (int p = 0; p < format_.storage.frame.plane_count; ++p) {
    const GstMapInfo& map = maps_[mapped_whole_ ? 0 : p];
    if (p == 0 || (!mapped_whole_ && map.memory != maps_[p - 1].memory))
      locked = locked_bytes(map, page_locks);
    locked_rows_[p] = rows_within(locked, frame_.planes[p]);
  }
}

void MappedBuffer::check_meta() const {
  const GstVideoInfo& info = format_.info;
  if (meta_->format != GST_VIDEO_INFO_FORMAT(&info) ||
      meta_->width < static_cast<guint>(info.width) ||
      meta_->height < static_cast<guint>(info.height) ||
      meta_->n_planes != static_cast<guint>(format_.storage.frame.plane_count))
    refuse("A buffer's GstVideoMeta (" + format_text(meta_->format) + ", " +
           std::to_string(meta_->width) + "×" + std::to_string(meta_->height) + ", planes: " +
           std::to_string(meta_->n_planes) + ") contradicts its caps (" + format_.description() +
           ", planes: " + std::to_string(format_.storage.frame.plane_count) +
           "): correct the GstVideoMeta that " + source() + " attaches.");
}

bool MappedBuffer::map_planes_by_meta() {
  for (int p = 0; p < format_.storage.frame.plane_count; ++p) {
    if (meta_->offset[p] >= gst_buffer_get_size(buffer_))
      refuse_size();
    gpointer data = nullptr;
    gint stride = 0;
    if (!gst_video_meta_map(meta_, p, &maps_[p], &data, &stride, flags_))
      refuse_access();
    maps_by_meta_ = p + 1;
    if (!take_plane(p, static_cast<guint8*>(data), stride, maps_[p]))
      return false;
  }
  return true;
}

void MappedBuffer::map_whole() {
  if (!gst_buffer_map(buffer_, &maps_[0], flags_))
    refuse_access();
  mapped_whole_ = true;

  const auto [offset, stride] = planes();
  for (int p = 0; p < format_.storage.frame.plane_count; ++p)
    if (offset[p] > maps_[0].size || !take_plane(p, maps_[0].data + offset[p], stride[p], maps_[0]))
      refuse_size();
}

MappedBuffer::Planes MappedBuffer::planes() const {
  if (meta_)
    return {meta_->offset, meta_->stride};
  GstMemory* memory = cuda_memory_of(buffer_);
  if (!memory || !format_.is_video())
    return {format_.offset.data(), format_.stride.data()};
  // Without GstVideoMeta, only libgstcuda knows the pitch.
  const GstVideoInfo& actual = cuda_memory_info(memory);
  if (GST_VIDEO_INFO_FORMAT(&actual) != GST_VIDEO_INFO_FORMAT(&format_.info) ||
      actual.width < format_.info.width || actual.height < format_.info.height)
    refuse("A buffer in CUDA memory (" + format_.description() + ") has no GstVideoMeta: " +
           (flags_ & GST_MAP_READ ? "remove the element upstream that drops metas, or put "
                                    "cudadownload before that element."
                                  : std::string("correct ") + source() + "."));
  return {actual.offset, actual.stride};
}

// Returns true if a plane whose first row has the offset `start` is within a block of `size` bytes.
bool MappedBuffer::is_within(int plane, gint64 start, gint stride, gsize size) const {
  const PlaneShape& shape = format_.storage.frame.planes[plane];
  if (shape.rows > 1 && std::abs(static_cast<gint64>(stride)) < shape.row_bytes)
    refuse("The stride of " + std::to_string(stride) + " bytes is too small for rows of " +
           std::to_string(shape.row_bytes) + " bytes (" + format_.description() +
           "): correct the GstVideoMeta that " + source() + " attaches.");
  const gint64 last_row = static_cast<gint64>(stride) * (shape.rows - 1);
  const gint64 begin = start + std::min<gint64>(last_row, 0);
  const gint64 end = start + std::max<gint64>(last_row, 0) + shape.row_bytes;
  return begin >= 0 && end <= static_cast<gint64>(size);
}

// Returns false if the plane exceeds the map.
bool MappedBuffer::take_plane(int plane, guint8* data, gint stride, const GstMapInfo& map) {
  if (!is_within(plane, data - map.data, stride, map.size))
    return false;
  const PlaneShape& shape = format_.storage.frame.planes[plane];
  frame_.planes[plane] = {data, shape.row_bytes, shape.rows, stride};
  return true;
}

void MappedBuffer::unmap() noexcept {
  for (; maps_by_meta_ > 0; --maps_by_meta_)
    gst_video_meta_unmap(meta_, maps_by_meta_ - 1, &maps_[maps_by_meta_ - 1]);
  if (mapped_whole_)
    gst_buffer_unmap(buffer_, &maps_[0]);
  mapped_whole_ = false;
}

void MappedBuffer::refuse_access() const {
  const bool reads = flags_ & GST_MAP_READ;
  throw ElementError(GST_RESOURCE_ERROR, reads ? GST_RESOURCE_ERROR_READ : GST_RESOURCE_ERROR_WRITE,
                     "A buffer (" + format_.description() + ") cannot be mapped for " +
                         (reads ? "reading" : "writing") + ", because the memory of " + source() +
                         " is not accessible: between both elements, insert one that copies to "
                         "system memory (cudadownload, gldownload) or to this GPU (cudaupload).");
}

void MappedBuffer::refuse_size() const {
  std::string layout = meta_ ? "" : ", usually " + std::to_string(format_.size) + " bytes";
  for (int p = 0; meta_ && p < format_.storage.frame.plane_count; ++p)
    layout += ", stride " + std::to_string(meta_->stride[p]) + " at offset " +
              std::to_string(meta_->offset[p]);
  refuse("A buffer of " + std::to_string(gst_buffer_get_size(buffer_)) +
         " bytes is too small for its " + (meta_ ? "GstVideoMeta (" : "caps (") +
         format_.description() + layout + "): correct " +
         (meta_ ? "the GstVideoMeta or the buffer size of " : "") + source() +
         (flags_ & GST_MAP_READ && !meta_ ? ", or the caps given to a parser or appsrc." : "."));
}

const char* MappedBuffer::source() const {
  return flags_ & GST_MAP_READ ? "the element before this one"
                               : "the buffer pool of the element after this one";
}

}  // namespace cudavision
