// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/check/common/definitions/integraldefinition.h"

#include "tests/check/common/pictures/nativepicture.h"
#include "tests/kernels/integral/integral_definition.h"
#include "tests/kernels/localstatistics/localstatistics_definition.h"

namespace check {

namespace kernels = cudavision;
namespace definition = cudavision::test;

const char* nick_of(Output output) {
  constexpr const char* nicks[] = {"sum", "squared-sum", "tilted-sum", "mean", "stddev"};
  return nicks[static_cast<int>(output)];
}

const char* nick_of(ElementType type) {
  constexpr const char* nicks[] = {"auto", "uint32", "uint64", "float32", "float64"};
  return nicks[static_cast<int>(type)];
}

Properties Integral::properties() const {
  return {{"output", nick_of(output)},
          {"table-layout", same_size ? "same-size" : "padded"},
          {"element-type", nick_of(type)},
          {"radius", std::to_string(radius)}};
}

namespace {

kernels::View<std::uint8_t> rows_in(std::vector<std::uint8_t>& bytes, std::size_t row_bytes) {
  const auto width = static_cast<int>(row_bytes);
  return {bytes.data(), width, static_cast<int>(bytes.size() / row_bytes), width};
}

kernels::integral::TableKind kind_of(Output output) {
  return output == Output::sum           ? kernels::integral::TableKind::sum
         : output == Output::squared_sum ? kernels::integral::TableKind::squared_sum
                                         : kernels::integral::TableKind::tilted_sum;
}

/// Resolves the element type `auto`: uint32 if all sums fit, otherwise uint64.
ElementType type_for(const Picture& picture, const Integral& how) {
  using Wide = unsigned __int128;
  if (how.type != ElementType::automatic)
    return how.type;
  const auto peak = static_cast<Wide>(picture.format->peak());
  const Wide maximum = (how.output == Output::squared_sum ? peak * peak : peak) *
                       static_cast<Wide>(picture.width) * static_cast<Wide>(picture.height);
  return maximum < Wide{1} << 32 ? ElementType::uint32 : ElementType::uint64;
}

}  // namespace

std::string Tensor::caps(const std::string& framerate) const {
  return "other/tensors, format=(string)static, num_tensors=(int)1, dimensions=(string)1:" +
         std::to_string(columns) + ":" + std::to_string(rows) + ":1, types=(string)" + type +
         ", framerate=(fraction)" + framerate;
}

Integral with_radius(Output output, int radius) {
  Integral how;
  how.output = output;
  how.radius = radius;
  return how;
}

Tensor tensor_of(const Picture& picture, const Integral& how) {
  using kernels::integral::TableElement;
  const ElementType type = type_for(picture, how);
  const bool narrow = type == ElementType::uint32 || type == ElementType::float32;
  kernels::integral::Parameters parameters;
  parameters.kind = kind_of(how.output);
  parameters.element = type == ElementType::uint32    ? TableElement::uint32
                       : type == ElementType::uint64  ? TableElement::uint64
                       : type == ElementType::float32 ? TableElement::float32
                                                      : TableElement::float64;
  parameters.same_size = how.same_size;
  Tensor tensor;
  tensor.columns = picture.width + (how.same_size ? 0 : 1);
  tensor.rows = picture.height + (how.same_size ? 0 : 1);
  tensor.type = nick_of(type);
  const std::size_t row_bytes = static_cast<std::size_t>(tensor.columns) * (narrow ? 4 : 8);
  tensor.bytes.resize(row_bytes * static_cast<std::size_t>(tensor.rows));
  const Picture in = native(picture);
  definition::defined_integral(layout_of(in), parameters, frame_of(in),
                               rows_in(tensor.bytes, row_bytes));
  return tensor;
}

const FormatSpec& natural_format(const Picture& picture, Output output) {
  return format_named(!is_table(output) && picture.format->bits > 8 ? "GRAY16_LE" : "GRAY8");
}

Picture gray_picture_of(const Picture& picture, const Integral& how, const FormatSpec& format) {
  using Statistic = kernels::localstatistics::Parameters::Output;
  const int larger = is_table(how.output) && !how.same_size ? 1 : 0;
  Picture out(format, picture.width + larger, picture.height + larger);
  const auto rows = rows_in(out.planes[0].bytes, static_cast<std::size_t>(out.planes[0].row_bytes));
  const Picture in = native(picture);
  if (is_table(how.output)) {
    definition::defined_integral_picture(layout_of(in), kind_of(how.output), how.same_size,
                                         format.bits, frame_of(in), rows);
    return out;
  }
  kernels::localstatistics::Parameters parameters;
  parameters.output = how.output == Output::mean ? Statistic::mean : Statistic::stddev;
  parameters.radius = how.radius;
  definition::defined_statistics(layout_of(in), format.bits, parameters, frame_of(in), rows);
  return out;
}

}  // namespace check
