// SPDX-License-Identifier: LGPL-2.1-or-later
// Stresses the elements from several threads at once. One sends frames; the others set properties
// and send queries and upstream events. The element must survive, and no thread may starve.
#include "tests/check/common/filterharness.h"

using namespace check;

TEST(stress_threads, .for_each_element().times(2)) {
  const FormatSpec& format = format_named("RGBA");
  const Owned<GstElement> element = make_tested(tested().everything);
  set_property(element, "frames-in-flight", index == 0 ? "1" : "4");
  const Owned<GstHarness> harness(gst_harness_new_with_element(element, "sink", "src"));
  gst_harness_set_drop_buffers(harness, TRUE);
  const Owned<GstCaps> caps = caps_from(caps_of(format, 64, 48));
  GstSegment segment = new_segment();
  const Owned<GstBuffer> buffer(to_buffer(make_picture(format, 64, 48, Content::natural, 1)));
  const auto& [property, text] = tested().halfway;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_DOUBLE);
  g_value_set_double(&value, g_ascii_strtod(text.c_str(), nullptr));

  std::vector<GstHarnessThread*> threads = {
      gst_harness_stress_push_buffer_start(harness, caps, &segment, buffer),
      gst_harness_stress_property_start(harness, property, &value),
      gst_harness_stress_send_upstream_event_start(harness, gst_event_new_reconfigure()),
      gst_harness_stress_send_upstream_event_start(
          harness, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.1, 0, 0)),
      gst_harness_stress_custom_start(
          harness, nullptr,
          +[](gpointer, gpointer data) {
            auto* h = static_cast<GstHarness*>(data);
            Owned<GstCaps>(gst_pad_peer_query_caps(h->srcpad, nullptr));
            const auto& [name, to] = g_random_boolean() ? tested().wrong : tested().mended;
            set_property(h->element, name, to);
          },
          harness.get(), 700)};
  g_usleep(full_run() ? 2 * G_USEC_PER_SEC : G_USEC_PER_SEC / 2);
  for (GstHarnessThread* thread : threads)
    fail_unless(gst_harness_stress_thread_stop(thread) > 0, "a thread did nothing");
  g_value_unset(&value);
}

// An application may have hundreds of elements. Each must get threads, memory and, on a card, its
// share of it.
TEST(stress_many_elements) {
  constexpr int count = 300, frames = 4;
  const FormatSpec& format = format_named("NV12");
  const Picture picture = with_valid_chroma(make_picture(format, 32, 24, Content::natural, 1));
  std::vector<std::unique_ptr<FilterHarness>> filters;
  for (int i = 0; i < count; ++i) {
    const ElementUnderTest& spec =
        tested_elements()[static_cast<std::size_t>(i) % tested_elements().size()];
    filters.push_back(std::make_unique<FilterHarness>(spec.element, spec.always));
    filters.back()->set("frames-in-flight", std::to_string(1 + i % 4));
    filters.back()->accept_caps(format, 32, 24, colorimetry(format, false));
  }
  for (int number = 0; number < frames; ++number)
    for (const auto& filter : filters)
      fail_unless_equals_int(filter->push(to_buffer(picture)), GST_FLOW_OK);
  for (int i = 0; i < count; ++i) {
    FilterHarness& filter = *filters[static_cast<std::size_t>(i)];
    filter.send_eos();
    const ElementUnderTest& spec =
        tested_elements()[static_cast<std::size_t>(i) % tested_elements().size()];
    const Picture expected = spec.result(picture, false);
    for (int number = 0; number < frames; ++number) {
      const Owned<GstBuffer> out = filter.pull();
      fail_unless(out != nullptr, "%s %d lost a frame", spec.element, i);
      expect_picture(from_buffer(out, format, 32, 24), expected, spec.element);
    }
  }
}
