// SPDX-License-Identifier: LGPL-2.1-or-later
// What gst-inspect-1.0 shows of every element: complete, and nothing left to guess.
#include <cctype>
#include <cstring>

#include "tests/check/common/filterharness.h"

using namespace check;

namespace {

/// Calls what with each element factory of the plug-in.
template <class What>
void for_each_factory(What what) {
  GList* features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "cudavision");
  fail_unless(features != nullptr, "no plug-in cudavision: is GST_PLUGIN_PATH set?");
  for (GList* l = features; l != nullptr; l = l->next)
    if (GST_IS_ELEMENT_FACTORY(l->data))
      what(GST_ELEMENT_FACTORY(l->data));
  gst_plugin_feature_list_free(features);
}

bool is_ours(const GParamSpec* spec) {
  const char* name = g_type_name(spec->owner_type);
  return std::strcmp(name, "GstObject") != 0 && std::strcmp(name, "GstBaseTransform") != 0 &&
         std::strcmp(name, "GstAggregator") != 0;
}

bool is_kebab_case(const char* name) {
  for (const char* c = name; *c != '\0'; ++c)
    if (!std::islower(static_cast<unsigned char>(*c)) &&
        !std::isdigit(static_cast<unsigned char>(*c)) && *c != '-')
      return false;
  return true;
}

}  // namespace

GST_START_TEST(test_plugin) {
  GstPlugin* plugin = gst_registry_find_plugin(gst_registry_get(), "cudavision");
  fail_unless(plugin != nullptr, "no plug-in cudavision: is GST_PLUGIN_PATH set?");
  fail_unless_equals_string(gst_plugin_get_license(plugin), "LGPL");
  for (const char* text : {gst_plugin_get_description(plugin), gst_plugin_get_version(plugin),
                           gst_plugin_get_package(plugin), gst_plugin_get_origin(plugin)})
    fail_unless(text != nullptr && *text != '\0');
  gst_object_unref(plugin);
}
GST_END_TEST

GST_START_TEST(test_metadata) {
  for_each_factory([](GstElementFactory* factory) {
    for (const char* key : {GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
                            GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR}) {
      const gchar* text = gst_element_factory_get_metadata(factory, key);
      fail_unless(text != nullptr && *text != '\0', "%s has no %s", GST_OBJECT_NAME(factory), key);
    }
    const gchar* klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
    fail_unless(std::strstr(klass, "Video") != nullptr, "%s", klass);
    fail_unless_equals_int(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory)), GST_RANK_NONE);
  });
}
GST_END_TEST

GST_START_TEST(test_property_words) {
  for_each_factory([](GstElementFactory* factory) {
    GstElement* element = gst_element_factory_create(factory, nullptr);
    guint count = 0;
    GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    guint ours = 0;
    for (guint i = 0; i < count; ++i) {
      if (!is_ours(specs[i]))
        continue;
      ++ours;
      const char* name = specs[i]->name;
      const gchar *nick = g_param_spec_get_nick(specs[i]),
                  *blurb = g_param_spec_get_blurb(specs[i]);
      fail_unless(is_kebab_case(name), "%s", name);
      // GObject answers with the name itself where no nick was given.
      fail_unless(nick != nullptr && std::strcmp(nick, name) != 0, "%s has no nick", name);
      fail_unless(blurb != nullptr && std::strlen(blurb) > 15, "%s has no blurb", name);
      if (G_IS_PARAM_SPEC_ENUM(specs[i])) {
        const GEnumClass* values = G_PARAM_SPEC_ENUM(specs[i])->enum_class;
        for (guint v = 0; v < values->n_values; ++v) {
          fail_unless(is_kebab_case(values->values[v].value_nick), "%s: %s", name,
                      values->values[v].value_nick);
          fail_unless(std::strlen(values->values[v].value_name) > 2);
        }
      }
      if ((specs[i]->flags & G_PARAM_WRITABLE) != 0)
        fail_unless((specs[i]->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PLAYING)) != 0,
                    "%s does not say when it may change", name);
      fail_unless((specs[i]->flags & G_PARAM_STATIC_STRINGS) == G_PARAM_STATIC_STRINGS, "%s", name);
    }
    fail_unless(ours >= 3, "%s has only %u properties", GST_OBJECT_NAME(factory), ours);
    g_free(specs);
    gst_object_unref(element);
  });
}
GST_END_TEST

// The default that is announced is the one that a new element has.
GST_START_TEST(test_defaults_are_true) {
  for_each_factory([](GstElementFactory* factory) {
    GstElement* element = gst_element_factory_create(factory, nullptr);
    guint count = 0;
    GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    for (guint i = 0; i < count; ++i) {
      if (!is_ours(specs[i]) || (specs[i]->flags & G_PARAM_READABLE) == 0)
        continue;
      GValue value = G_VALUE_INIT;
      g_value_init(&value, specs[i]->value_type);
      g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
      fail_unless(g_param_value_defaults(specs[i], &value), "%s starts with another value",
                  specs[i]->name);
      g_value_unset(&value);
    }
    g_free(specs);
    gst_object_unref(element);
  });
}
GST_END_TEST

static Suite* check_inspect_suite() {
  Suite* suite = suite_create("inspect");
  TCase* tc = tcase_create("inspect");
  suite_add_tcase(suite, tc);
  tcase_add_test(tc, test_plugin);
  tcase_add_test(tc, test_metadata);
  tcase_add_test(tc, test_property_words);
  tcase_add_test(tc, test_defaults_are_true);
  return suite;
}

GST_CHECK_MAIN(check_inspect)
