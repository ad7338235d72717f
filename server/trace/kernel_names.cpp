#include "server/trace/kernel_names.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/trace/span_kinds.h"

namespace stepscope {
namespace {

// The first row of which a part is in the name decides. A part with a blank in front and behind is
// a word of its own: "int" is not in "pointwise".
struct NameRow {
  std::string_view part, meaning;
};
constexpr NameRow kPrecisions[] = {
    {"e4m3", "FP8"},      {"e5m2", "FP8"},      {"fp8", "FP8"},         {"float8", "FP8"},
    {"bf16", "BF16"},     {"bfloat16", "BF16"}, {"fp16", "FP16"},       {"float16", "FP16"},
    {" half ", "FP16"},   {"__half", "FP16"},   {"c10::half ", "FP16"}, {"f16f16", "FP16"},
    {"_f16_", "FP16"},    {"hgemm", "FP16"},    {"h884", "FP16"},       {"h1688", "FP16"},
    {"h16816", "FP16"},   {"fp16_s", "FP16"},   {"tf32", "TF32"},       {"s1688gemm", "TF32"},
    {"int8", "INT8"},     {"i8i8", "INT8"},     {"imma", "INT8"},       {"i8816", "INT8"},
    {" double ", "FP64"}, {"dgemm", "FP64"},    {"f64f64", "FP64"},     {"sgemm", "FP32"},
    {"f32f32", "FP32"},   {" float ", "FP32"},  {"scudnn", "FP32"},     {"_f32_", "FP32"},
    {" int ", "INT32"},   {" long ", "INT32"},
};
constexpr NameRow kFamilies[] = {
    {"flash", "attention"},
    {"fmha", "attention"},
    {"attention", "attention"},
    {"softmax", "reduction"},
    {"fprop", "convolution"},
    {"dgrad", "convolution"},
    {"wgrad", "convolution"},
    {"conv", "convolution"},
    {"winograd", "convolution"},
    {"gemm", "matmul"},
    {"gemv", "matmul"},
    {"cutlass", "matmul"},
    {"cublas", "matmul"},
    {"matmul", "matmul"},
    {"batch_norm", "normalization"},
    {"batchnorm", "normalization"},
    {"bn_fw", "normalization"},
    {"bn_bw", "normalization"},
    {"layer_norm", "normalization"},
    {"layernorm", "normalization"},
    {"rms_norm", "normalization"},
    {"norm", "normalization"},
    {"multi_tensor", "optimizer"},
    {"adam", "optimizer"},
    {"sgd", "optimizer"},
    {"embedding", "embedding"},
    {"index", "embedding"},
    {"gather", "embedding"},
    {"nchwtonhwc", "layout"},
    {"nhwctonchw", "layout"},
    {"transpose", "layout"},
    {"copy", "layout"},
    {"catarray", "layout"},
    {"reduce", "reduction"},
    {"elementwise", "elementwise"},
    {"pool", "elementwise"},
    {"triton_poi", "elementwise"},
    {"triton_red", "reduction"},
    {"triton_per", "reduction"},
    {"nll_loss", "reduction"},
};
constexpr std::string_view kTensorCores[] = {
    "tensorop", "wgmma", "hmma",       "imma",      "s16816",    "s1688",
    "h16816",   "h1688", "884gemm",    "h884",      "xmma",      "tf32",
    "bf16bf16", "gmma",  "tensor16x8", "flash_fwd", "flash_bwd", "fmha",
};

// In lower case, with a blank in place of everything that is in no name, and at both ends.
std::string Words(std::string_view name) {
  std::string words = " ";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    words += std::isalnum(byte) != 0 || c == '_' || c == ':' ? static_cast<char>(std::tolower(byte))
                                                             : ' ';
  }
  return words + ' ';
}

template <typename Rows>
std::string_view FirstIn(const std::string& words, const Rows& rows) {
  for (const NameRow& row : rows) {
    if (words.find(row.part) != std::string::npos) return row.meaning;
  }
  return "";
}

// The place behind the parenthesis that closes the one at `at`.
std::size_t BehindList(std::string_view name, std::size_t at) {
  int depth = 0;
  for (; at < name.size(); ++at) {
    depth += name[at] == '(' ? 1 : name[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return name.size();
}

// A parameter of a function says nothing of its element type but as a pointer: factors are doubles
// and sizes are integers in functions of any type.
void AppendPointers(std::string_view list, std::string& to) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    if (one.find('*') != std::string_view::npos) to.append(one) += ' ';
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
}

// A name in two parts: without lists of parameters, but for those of lambdas, which are what the
// function is applied to; and the pointers in these lists.
struct NameParts {
  std::string types, pointers;
};
NameParts PartsOf(std::string_view name) {
  constexpr std::string_view kNoList = "(anonymous namespace)", kLambda = "lambda";
  NameParts parts;
  for (std::size_t at = 0; at < name.size();) {
    const bool list = name[at] == '(' && !name.substr(at).starts_with(kNoList) &&
                      !name.substr(0, at).ends_with(kLambda);
    if (!list) {
      parts.types += name[at++];
      continue;
    }
    const std::size_t behind = BehindList(name, at);
    AppendPointers(name.substr(at, behind - at), parts.pointers);
    parts.types += ' ';
    at = behind;
  }
  return parts;
}

// Of several types the first decides: what comes behind it are those of sums and factors.
std::string_view PrecisionIn(const std::string& words) {
  const std::string_view found = FirstIn(words, kPrecisions);
  const std::size_t doubles = words.find(" double ");
  if (found != "FP64" || doubles == std::string::npos) return found;
  return words.find(" float ") < doubles ? "FP32" : found;
}

}  // namespace

std::string_view PrecisionOf(std::string_view kernel) {
  const NameParts parts = PartsOf(kernel);
  const std::string_view by_types = PrecisionIn(Words(parts.types));
  return by_types.empty() ? PrecisionIn(Words(parts.pointers)) : by_types;
}

std::string_view PrecisionOfInputs(std::string_view types) {
  constexpr NameRow kTypes[] = {{"float", ""},
                                {"double", "FP64"},
                                {"c10::Half", "FP16"},
                                {"half", "FP16"},
                                {"c10::BFloat16", "BF16"},
                                {"bfloat16", "BF16"},
                                {"c10::Float8_e4m3fn", "FP8"},
                                {"c10::Float8_e5m2", "FP8"}};
  const NameRow* found = nullptr;
  for (std::size_t begin = types.find('"'); begin != std::string_view::npos;) {
    const std::size_t end = types.find('"', begin + 1);
    if (end == std::string_view::npos) break;
    const std::string_view type = types.substr(begin + 1, end - begin - 1);
    begin = types.find('"', end + 1);
    const auto* const row = std::ranges::find(kTypes, type, &NameRow::part);
    if (row == std::end(kTypes)) continue;
    if (found != nullptr && found->meaning != row->meaning) return "";
    found = row;
  }
  return found == nullptr ? "" : found->meaning;
}

std::string_view FamilyOf(std::string_view kernel) {
  return IsCommunication(kernel) ? "communication" : FirstIn(Words(kernel), kFamilies);
}

bool UsesTensorCores(std::string_view kernel) {
  const std::string words = Words(kernel);
  return std::ranges::any_of(
      kTensorCores, [&](std::string_view part) { return words.find(part) != std::string::npos; });
}

}  // namespace stepscope
