// SPDX-License-Identifier: LGPL-2.1-or-later

/**
 * SECTION:element-cudaintegral
 * @title: cudaintegral
 *
 * Makes integral images (summed-area tables) of the luminance of frames, or the mean or standard
 * deviation around each pixel. Runs on an NVIDIA GPU or, with bit-identical results, on the CPU.
 * #GstCudaIntegral:output selects the output:
 *
 * * `sum`, `squared-sum`, `tilted-sum`: tables equal to OpenCV's integral, as tensors in
 *   NNStreamer's caps: `other/tensors, format=static, num_tensors=1, dimensions=1:W+1:H+1:1` for
 *   padded tables of W×H frames. Rows have no padding. If downstream names `memory:CUDAMemory` for
 *   tensors, they remain on the GPU. If downstream accepts only video, the output is a gray picture
 *   of the table, scaled to the full range.
 * * `mean`, `stddev`: mean and standard deviation of the pixels up to #GstCudaIntegral:radius to
 *   each side, clipped at the edges of the picture. The output is GRAY8 or, for frames of more than
 *   8 bits, GRAY16_LE with the values in the most significant bits.
 *
 * The time for a mean or a standard deviation hardly depends on the radius.
 *
 * A change of #GstCudaIntegral:output, #GstCudaIntegral:table-layout or
 * #GstCudaIntegral:element-type takes effect at the next start.
 * #GstCudaIntegral:radius may change at any time, also through a #GstControlSource.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=320,height=240 !
 * cudaintegral ! filesink location=table.bin
 * ]| Writes the table of a frame: 241 rows of 321 numbers of type uint32.
 *
 * Since: 0.2.0
 */
#include <optional>
#include <utility>

#include "gst/base/filter/filterelement.h"
#include "gst/base/filter/outputcaps.h"
#include "gst/core/tensors.h"
#include "gst/integral/integralcaps.h"

namespace cudavision {
namespace {

class Table {
 public:
  Table(Device& device, const FrameFormat& in, const OutputForm& form)
      : device_(device),
        element_bytes_(bytes_of(form.element_for(in.layout))),
        integral_(
            device, in.layout,
            {form.kind(), form.element_for(in.layout), form.layout == TableLayout::same_size}) {}

  void run(const ConstFrame& in, const View<std::uint8_t>& table) {
    if (is_aligned(table)) {
      integral_.run(in, table);
    } else {
      integral_.run(in, own_table(table));
      device_.copy(own_table(table), table);
    }
  }

 private:
  bool is_aligned(const View<std::uint8_t>& table) const {
    return reinterpret_cast<std::uintptr_t>(table.data) % element_bytes_ == 0 &&
           table.pitch % static_cast<std::ptrdiff_t>(element_bytes_) == 0;
  }

  View<std::uint8_t> own_table(const View<std::uint8_t>& table) {
    if (!memory_.data())
      memory_ = device_.allocate(static_cast<std::size_t>(table.width) * table.height);
    return {memory_.as<std::uint8_t>(), table.width, table.height, table.width};
  }

  Device& device_;
  const std::size_t element_bytes_;
  integral::Integral integral_;
  Buffer memory_;  ///< for unaligned output buffers; allocated when needed
};

localstatistics::Parameters statistics_parameters(const IntegralSettings& settings) {
  using Output = localstatistics::Parameters::Output;
  localstatistics::Parameters parameters;
  parameters.output =
      settings.form().output == IntegralOutput::mean ? Output::mean : Output::stddev;
  parameters.radius = settings.radius;
  return parameters;
}

class IntegralProcessor {
 public:
  using Settings = IntegralSettings;

  static constexpr FilterDescription description = {
      "GstCudaIntegral",
      "cudaintegral",
      "CUDA integral image",
      "Filter/Analyzer/Converter/Video/Hardware",
      "Integral images (summed-area tables), local means and standard deviations, on an NVIDIA GPU "
      "or the CPU",
      "smaller frames or, for tables of 64-bit elements, element-type=uint32"};

  static void add_properties(ElementProperties<Settings>& all) { add_integral_properties(all); }
  static Caps src_template() { return integral_src_template(); }
  static void extend_class(GstCudaVisionFilterClass* klass);

  IntegralProcessor(GstCudaVisionFilter*, Device& device, const FrameFormat& in,
                    const FrameFormat& out, const Settings& settings) {
    const OutputForm form = settings.form();
    radius_ = settings.radius;
    if (!form.is_table())
      statistics_.emplace(device, in.layout, out.layout.bits, statistics_parameters(settings));
    else if (out.is_video())
      picture_.emplace(device, in.layout, form.kind(), form.layout == TableLayout::same_size,
                       out.layout.bits);
    else
      table_.emplace(device, in, form);
  }

  void apply(const Settings& settings) {
    if (statistics_ && std::exchange(radius_, settings.radius) != settings.radius)
      statistics_->set_parameters(statistics_parameters(settings));
  }
  bool begin_frame(const FrameInfo&) { return true; }
  void run(const ConstFrame& in, const Frame& out) {
    if (statistics_)
      statistics_->run(in, out.planes[0]);
    else if (picture_)
      picture_->run(in, out.planes[0]);
    else
      table_->run(in, out.planes[0]);
  }

 private:
  // Exactly one of the three operations is set.
  std::optional<localstatistics::LocalStatistics> statistics_;
  std::optional<integral::IntegralPicture> picture_;
  std::optional<Table> table_;
  int radius_ = 0;
};

using Integral = FilterElement<IntegralProcessor>;

void set_form(gpointer self, bool started) {
  const ObjectLock lock(self);
  IntegralSettings& settings = Integral::guarded_settings(self);
  settings.started.reset();
  if (started)
    settings.started = settings.form();
}

gboolean start(GstBaseTransform* trans) {
  set_form(trans, true);
  return Integral::parent_class()->start(trans);
}

gboolean stop(GstBaseTransform* trans) {
  const gboolean stopped = Integral::parent_class()->stop(trans);
  set_form(trans, false);
  return stopped;
}

OutputForm form_of(gpointer self) {
  return Integral::settings(self).form();
}

GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) {
  return post_exceptions(trans, static_cast<GstCaps*>(nullptr), [&] {
    return integral_caps_of_other_side(direction, caps, filter, form_of(trans), takes_cuda(trans))
        .release();
  });
}

GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                     GstCaps* othercaps) {
  return fixate_output(trans, direction, caps, othercaps, [&](Caps possible) {
    return choose_integral_output(std::move(possible), caps, form_of(trans),
                                  GST_BASE_TRANSFORM_SRC_PAD(trans));
  });
}

gboolean get_unit_size(GstBaseTransform* trans, GstCaps* caps, gsize* size) {
  if (!is_tensor(gst_caps_get_structure(caps, 0)))
    return Integral::parent_class()->get_unit_size(trans, caps, size);
  try {
    *size = tensor_format_from_caps(caps).size;
    return TRUE;
  } catch (const std::exception& e) {
    GST_CAT_WARNING_OBJECT(class_of(trans)->debug_category, trans, "%s", e.what());
    return FALSE;
  }
}

FrameFormat output_format(GstCudaVisionFilter* self, const FrameFormat& in, const GstCaps* caps) {
  return integral_output_format(in, caps, form_of(self));
}

void IntegralProcessor::extend_class(GstCudaVisionFilterClass* klass) {
  GstBaseTransformClass& transform_class = klass->parent_class;
  transform_class.start = start;
  transform_class.stop = stop;
  transform_class.transform_caps = transform_caps;
  transform_class.fixate_caps = fixate_caps;
  transform_class.get_unit_size = get_unit_size;
  klass->unpacked_form = repack::UnpackedForm::luminance;
  klass->output_format = output_format;
}

}  // namespace
}  // namespace cudavision

GST_ELEMENT_REGISTER_DEFINE(cudaintegral, "cudaintegral", GST_RANK_NONE,
                            cudavision::FilterElement<cudavision::IntegralProcessor>::get_type())
