// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>

#include "gst/base/devicemessages.h"
#include "gst/base/elementdescription.h"
#include "gst/base/filter/gstcudavisionfilter.h"
#include "gst/base/properties.h"
#include "gst/base/regions/frameregions.h"
#include "gst/base/regions/regionstrength.h"
#include "gst/core/caps.h"
#include "gst/core/elementerror.h"

namespace cudavision {

/// The names and texts of an element. All strings must be static.
struct FilterDescription {
  const char* type_name;    ///< "GstCudaName"
  const char* name;         ///< "cudaname": the element, its debug category and its page in docs/
  const char* long_name;    ///< a few words
  const char* categories;   ///< e.g. "Filter/Effect/Video/Hardware"
  const char* description;  ///< one sentence
  const char* memory_advice = nullptr;  ///< see set_memory_advice(); nullptr for the default
};

/// Base of the settings of elements that post element messages.
struct MessageSettings {
  bool post_messages = false;
  GstClockTime message_interval = 0;
};

template <class Settings>
void add_message_properties(ElementProperties<Settings>& all, const char* what_is_posted) {
  all.add({"post-messages", "Post messages", what_is_posted}, &Settings::post_messages);
  all.add({"message-interval", "Message interval",
           "Interval of running time in ns; its first frame posts a message (0 = all frames do)"},
          &Settings::message_interval);
}

/// Turns a Processor, which is an operation on frames of one format, into a filter element. The
/// element owns a Processor while the caps are known. A Processor has
///
///   using Settings            if derived from RegionSettings, the element has region properties
///   static constexpr FilterDescription description
///   static void add_properties(ElementProperties<Settings>&)
///   Processor(GstCudaVisionFilter*, Device&, const FrameFormat& in, const FrameFormat& out,
///             const Settings&)
///   void apply(const Settings&)           takes valid settings before each frame; rarely allocates
///   bool begin_frame(const FrameInfo&)    returns false if the frame would not change
///   void run(const ConstFrame& in, const Frame& out)
///   or, with regions, run(in, out, const regions::ActiveCells* active)   see FrameRegions::run()
///
/// and optionally
///
///   static std::string error(const Settings&, const FrameFormat& in)
///                             returns "" or an error; FilterElement checks ranges and regions
///   static Caps src_template()            if output caps differ from input caps
///   static void extend_class(GstCudaVisionFilterClass*)   called at the end of class_init
///
/// If Settings derive from StrengthSettings, a Processor also has
///
///   static constexpr Number max_strength; static constexpr char strength_property[]
///   static double strength_share(const Settings&)
///   void fit(Number pixels)               sets the frame's minimum strength, before begin_frame()
///
/// If the element posts messages, a Processor has, in place of run() above,
///
///   using Messages            derived from DeviceMessages
///   void reserve(Messages&)   reserves a slot, before apply() and begin_frame()
///   void restart()            makes the next frame begin a new sequence
///   void run(const ConstFrame& in, const Frame* out, const FrameInfo&, Messages*)
///                             out: nullptr if the frame is only inspected. Messages: nullptr if
///                             no message is posted. This run() handles regions itself.
///
/// The constructor, the destructor, apply(), fit(), begin_frame(), run() and strength_share() run
/// in the session's CUDA context. All other functions may run without a context.
template <class Processor>
class FilterElement {
 public:
  using Settings = typename Processor::Settings;

  /// Registers the type in the first call.
  static GType get_type() {
    static const GType type =
        g_type_register_static_simple(GST_TYPE_CUDA_VISION_FILTER, Processor::description.type_name,
                                      sizeof(GstCudaVisionFilterClass), init_class,
                                      sizeof(Instance), init_instance, static_cast<GTypeFlags>(0));
    return type;
  }

  static Settings settings(gpointer self) { return current_settings(self, state(self).settings); }
  /// Call this under the object lock.
  static Settings& guarded_settings(gpointer self) { return state(self).settings; }
  /// Returns nullptr while the caps are unknown. Call this in the streaming thread.
  static Processor* processor(gpointer self) { return state(self).processor.get(); }

  /// Returns an empty string, or an error if the settings are invalid for the current format.
  static std::string settings_error(gpointer self, const Settings& settings) {
    std::string error = properties->range_error(settings);
    if constexpr (requires { Processor::error(settings, state(self).format); })
      if (error.empty())
        error = Processor::error(settings, state(self).format);
    if constexpr (in_regions)
      if (error.empty())
        error = settings.regions.error();
    return error;
  }

  /// Starts a frame. If error is not empty, keeps the previous settings, with a warning if `warns`.
  static FrameAction begin_frame(GstCudaVisionFilter* self, const FrameInfo& info,
                                 const Settings& settings, const std::string& error, bool warns) {
    State& state = FilterElement::state(self);
    Processor& processor = *state.processor;
    const bool valid = warns ? state.guard.allows(GST_ELEMENT_CAST(self), error) : error.empty();
    if constexpr (has_messages) {
      state.posts = settings.post_messages &&
                    state.interval.selects(info.times.running_time, settings.message_interval);
      if (!settings.post_messages)
        state.interval.reset();
      if (state.posts)
        processor.reserve(state.messages);
    }
    bool changes = false;
    {
      const DeviceScope scope(gst_cuda_vision_filter_session(self));
      if (valid)
        processor.apply(settings);
      bool selected = true;
      if constexpr (limits_regions) {
        if (valid)
          state.regions->set_settings(settings);
        selected = state.regions->select(info);
      }
      if constexpr (fits_regions) {
        if (valid)
          state.strength.set_share(Processor::strength_share(settings));
        processor.fit(state.strength.find(gst_cuda_vision_filter_regions(self).largest_side(),
                                          Processor::max_strength, Processor::strength_property));
      }
      changes = processor.begin_frame(info) && selected;
    }
    if constexpr (fits_regions)
      state.strength.post_warning(GST_ELEMENT_CAST(self));
    if (changes)
      return FrameAction::transform;
    if constexpr (has_messages)
      if (state.posts)
        return FrameAction::inspect;
    return FrameAction::nothing;
  }

  static GstBaseTransformClass* parent_class() {
    return GST_BASE_TRANSFORM_CLASS(g_type_class_peek(GST_TYPE_CUDA_VISION_FILTER));
  }

 private:
  static constexpr bool in_regions = std::derived_from<Settings, RegionSettings>;
  static constexpr bool has_messages = requires { typename Processor::Messages; };
  static constexpr bool limits_regions = in_regions && !has_messages;
  static constexpr bool fits_regions = std::derived_from<Settings, StrengthSettings>;

  struct None {
    None(GstElement*, const DeviceSession&) {}
  };
  template <class P>
  struct MessagesOf {
    using type = None;
  };
  template <class P>
  requires requires { typename P::Messages; }
  struct MessagesOf<P> {
    using type = typename P::Messages;
  };

  struct State {
    State(GstElement* element, const DeviceSession& session) : messages(element, session) {}

    Settings settings;  ///< guarded by the object lock
    typename MessagesOf<Processor>::type messages;
    // The members below belong to the streaming thread.
    FrameFormat format;
    std::unique_ptr<Processor> processor;
    std::optional<FrameRegions> regions;
    RegionStrength strength;
    SettingsGuard guard;
    FrameInterval interval;
    bool posts = false;  ///< the current frame posts a message
  };

  struct Instance {
    GstCudaVisionFilter parent;
    State* state;
  };

  static inline const ElementProperties<Settings>* properties = nullptr;  // set by init_class

  static State& state(gpointer self) { return *static_cast<Instance*>(self)->state; }

  static void set_property(GObject* object, guint id, const GValue* value, GParamSpec*) {
    properties->set(object, id, value, guarded_settings(object));
  }
  static void get_property(GObject* object, guint id, GValue* value, GParamSpec*) {
    properties->get(object, id, value, guarded_settings(object));
  }
  static void finalize(GObject* object) {
    delete &state(object);
    G_OBJECT_CLASS(parent_class())->finalize(object);
  }

  static void configure(GstCudaVisionFilter* self, Device& device, const FrameFormat& in,
                        const FrameFormat& out) {
    State& state = FilterElement::state(self);
    const Settings settings = FilterElement::settings(self);
    state.format = in;
    state.guard.require(settings_error(self, settings));
    state.processor = std::make_unique<Processor>(self, device, in, out, settings);
    if constexpr (limits_regions)
      state.regions.emplace(gst_cuda_vision_filter_session(self), in.layout, settings,
                            gst_cuda_vision_filter_regions(self));
    if constexpr (fits_regions)
      state.strength.set_share(Processor::strength_share(settings));
  }

  static FrameAction begin_frame(GstCudaVisionFilter* self, const FrameInfo& info) {
    const Settings settings = FilterElement::settings(self);
    return begin_frame(self, info, settings, settings_error(self, settings), true);
  }

  static void process(GstCudaVisionFilter* self, const ConstFrame& in, const Frame* out,
                      const FrameInfo& info) {
    State& state = FilterElement::state(self);
    Processor& processor = *state.processor;
    if constexpr (has_messages)
      processor.run(in, out, info, state.posts ? &state.messages : nullptr);
    else if constexpr (limits_regions)
      state.regions->run(
          in, *out,
          [&](const ConstFrame& from, const Frame& to, const regions::ActiveCells* active) {
            processor.run(from, to, active);
          });
    else
      processor.run(in, *out);
  }

  static void release(GstCudaVisionFilter* self) {
    State& state = FilterElement::state(self);
    if constexpr (has_messages)
      state.messages.release();
    state.regions.reset();
    state.processor.reset();
  }

  static void restart(GstCudaVisionFilter* self) {
    if (Processor* processor = FilterElement::processor(self))
      processor->restart();
  }

  static void drain(GstCudaVisionFilter* self) {
    state(self).messages.drain();
    restart(self);
  }

  static void discard(GstCudaVisionFilter* self) {
    state(self).interval.reset();
    restart(self);
    state(self).messages.discard();
  }

  static void init_class(gpointer klass, gpointer) {
    constexpr FilterDescription description = Processor::description;
    GObjectClass* object_class = G_OBJECT_CLASS(klass);
    object_class->set_property = set_property;
    object_class->get_property = get_property;
    object_class->finalize = finalize;
    static ElementProperties<Settings> all(object_class);
    Processor::add_properties(all);
    if constexpr (in_regions)
      add_region_properties(all);
    properties = &all;

    auto* filter_class = static_cast<GstCudaVisionFilterClass*>(klass);
    describe_element(GST_ELEMENT_CLASS(klass), description.name, description.long_name,
                     description.categories, description.description);
    if (description.memory_advice)
      set_memory_advice(GST_ELEMENT_CLASS(klass), description.memory_advice);
    if constexpr (requires { Processor::src_template(); })
      gst_cuda_vision_filter_class_add_pad_templates(filter_class, Processor::src_template());
    else
      gst_cuda_vision_filter_class_add_pad_templates(filter_class, video_template_caps());
    GST_DEBUG_CATEGORY_INIT(filter_class->debug_category, description.name, 0,
                            description.long_name);
    filter_class->configure = configure;
    filter_class->begin_frame = begin_frame;
    filter_class->process = process;
    filter_class->release = release;
    if constexpr (has_messages) {
      filter_class->frame_done = [](auto* self) { state(self).messages.post_arrived(); };
      // The message of a frame must be posted before the frame is pushed.
      filter_class->needs_frame_done = [](auto* self) { return state(self).posts; };
      filter_class->drain = drain;
      filter_class->discard = discard;
    }
    if constexpr (requires { Processor::extend_class(filter_class); })
      Processor::extend_class(filter_class);
  }

  static void init_instance(GTypeInstance* instance, gpointer) {
    auto* self = static_cast<Instance*>(static_cast<gpointer>(instance));
    self->state = new State(GST_ELEMENT_CAST(self), gst_cuda_vision_filter_session(&self->parent));
  }
};

}  // namespace cudavision
