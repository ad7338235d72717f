#pragma once

#include <string_view>

namespace stepscope {

// What the name of a kernel tells, by tables of parts of names. Unknown is unknown: "".

// FP64, FP32, TF32, BF16, FP16, FP8, INT8 or INT32: the type that it computes with.
std::string_view PrecisionOf(std::string_view kernel);

// The type that kernels of an operator compute with, by the types of its inputs as the profiler
// writes them: a list of texts. "" where floating types differ, and for "float", which may be
// computed as TF32.
std::string_view PrecisionOfInputs(std::string_view types);

// matmul, convolution, attention, normalization, optimizer, reduction, elementwise, layout,
// embedding, or communication.
std::string_view FamilyOf(std::string_view kernel);

// Whether it runs on tensor cores, as far as the names of libraries tell.
bool UsesTensorCores(std::string_view kernel);

}  // namespace stepscope
