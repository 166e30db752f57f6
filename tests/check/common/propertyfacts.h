// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

/// What an element says of its properties, and whether it holds.
namespace check {

const GParamSpec* property_of(GstElement* element, const char* name);

void expect_enum_default(GstElement* element, const char* name, const char* nick);
void expect_enum_nicks(GstElement* element, const char* name,
                       const std::vector<std::string>& expected);
/// The nick of the present value.
std::string enum_nick(GstElement* element, const char* name);

/// A double with that default, and that range, into which other values are brought.
void expect_number(GstElement* element, const char* name, double least, double most,
                   double initially);
/// NaN is in no range.
void expect_no_nan(GstElement* element, const char* name);

void expect_changeable_while_playing(GstElement* element, const char* name);
void expect_changeable_when_ready(GstElement* element, const char* name);

/// What is set is what is read, in the words of a launch line.
void expect_read_back(GstElement* element, const char* name, const char* value);

}  // namespace check
