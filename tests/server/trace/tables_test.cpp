#include <gtest/gtest.h>

#include "server/trace/kernel_names.h"
#include "server/trace/kernels.h"
#include "server/trace/operators.h"
#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

const OperatorRow& Find(const OperatorTable& table, std::string_view name) {
  return *std::ranges::find(table.rows, name, &OperatorRow::name);
}

TEST(KernelTable, SumsByNameAndNamesTheOperator) {
  const Trace trace = Converted({
      {"cpu_op", "aten::conv2d", "1", "1", 0, 50, "\"External id\": 1"},
      {"cpu_op", "aten::cudnn_convolution", "1", "1", 10, 30, "\"External id\": 2"},
      {"kernel", "conv", "0", "7", 100, 30,
       "\"External id\": 2, \"correlation\": 8, \"est. achieved occupancy %\": 50"},
      {"kernel", "conv", "0", "7", 140, 10,
       "\"External id\": 2, \"correlation\": 9, \"est. achieved occupancy %\": 10"},
      {"kernel", "relu", "0", "7", 160, 5, "\"External id\": 77, \"correlation\": 10"},
  });
  const KernelTable table = MakeKernelTable(TraceLinks(trace));
  ASSERT_EQ(table.rows.size(), 2);
  EXPECT_EQ(table.calls, 3);
  EXPECT_EQ(table.short_calls, 1);
  EXPECT_EQ(table.total_ns, 45'000);
  const KernelRow& conv = table.rows[0];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_EQ(conv.launched_by, "aten::cudnn_convolution");
  EXPECT_EQ(conv.min_ns, 10'000);
  EXPECT_EQ(conv.max_ns, 30'000);
  EXPECT_DOUBLE_EQ(conv.occupancy_percent, 40);
  EXPECT_EQ(table.rows[1].launched_by, "");
  EXPECT_DOUBLE_EQ(table.rows[1].occupancy_percent, -1);
}

TEST(OperatorOf, IsTheDeepestAroundTheLaunchWhereTheIdSaysNothing) {
  const Trace trace = Converted({
      {"cpu_op", "outer", "1", "1", 0, 50, "\"External id\": 9"},
      {"cpu_op", "inner", "1", "1", 10, 20, "\"External id\": 5"},
      {"cuda_runtime", "cudaLaunchKernel", "1", "1", 15, 2, "\"correlation\": 9"},
      {"kernel", "old", "0", "7", 100, 30, "\"External id\": 9, \"correlation\": 9"},
  });
  EXPECT_EQ(MakeKernelTable(TraceLinks(trace)).rows[0].launched_by, "inner");
}

TEST(OperatorTable, CountsNestedOnesOnce) {
  const Trace trace = Converted({
      {"cpu_op", "add", "1", "1", 0, 100, "\"External id\": 1"},
      {"cpu_op", "add", "1", "1", 10, 60, "\"External id\": 2"},
      {"cpu_op", "empty", "1", "1", 20, 20, "\"External id\": 3"},
      {"kernel", "k", "0", "7", 100, 30, "\"External id\": 2, \"correlation\": 8"},
      {"kernel", "k", "0", "7", 140, 5, "\"External id\": 70, \"correlation\": 9"},
  });
  const OperatorTable table = MakeOperatorTable(TraceLinks(trace), false);
  const OperatorRow& add = Find(table, "add");
  EXPECT_EQ(add.calls, 2);
  EXPECT_EQ(add.cpu_total_ns, 100'000);
  EXPECT_EQ(add.cpu_self_ns, 80'000);
  EXPECT_EQ(add.device_total_ns, 30'000);
  EXPECT_EQ(add.device_self_ns, 30'000);
  EXPECT_EQ(table.cpu_self_ns, 100'000);
  EXPECT_EQ(table.device_self_ns, 30'000);
  EXPECT_EQ(table.unlinked_ns, 5'000);
}

TEST(KernelTable, HasThePrecisionOfItsOperatorsWhereItsNameSaysNone) {
  const auto precision = [](const char* name, const char* one, const char* other) {
    const auto inputs = [](const char* types, int id) {
      return Format("\"External id\": {}, \"Input type\": {}", id, types);
    };
    const Trace trace = Converted({
        {"cpu_op", "aten::mm", "1", "1", 0, 10, inputs(one, 1)},
        {"cpu_op", "aten::mm", "1", "1", 20, 10, inputs(other, 2)},
        {"kernel", name, "0", "7", 5, 10, "\"External id\": 1"},
        {"kernel", name, "0", "7", 25, 10, "\"External id\": 2"},
    });
    return MakeKernelTable(TraceLinks(trace)).rows[0].precision;
  };
  constexpr char kBrain[] = R"(["c10::BFloat16", "c10::BFloat16", "Scalar", ""])";
  EXPECT_EQ(precision("nvjet_sm90_tst_64x64", kBrain, kBrain), "BF16");
  EXPECT_EQ(precision("nvjet_sm90_tst_64x64", kBrain, R"(["double"])"), "") << "they differ";
  EXPECT_EQ(precision("nvjet_sm90_tst_64x64", kBrain, "[]"), "") << "one says nothing";
  EXPECT_EQ(precision("mixed", R"(["float", "c10::BFloat16"])", R"(["float", "c10::Half"])"), "");
  EXPECT_EQ(precision("nvjet_sm90_tst_64x64", R"(["float", "float"])", R"(["float"])"), "")
      << "it may be TF32";
  EXPECT_EQ(precision("volta_sgemm_128x64_nn", kBrain, kBrain), "FP32") << "the name goes first";
}

TEST(OperatorTable, DividesByShape) {
  const Trace trace = Converted({
      {"cpu_op", "mm", "1", "1", 0, 10, "\"Input Dims\": [[2, 3], [3, 4]]"},
      {"cpu_op", "mm", "1", "1", 20, 10, "\"Input Dims\": [[8, 8], [8, 8]]"},
  });
  EXPECT_EQ(MakeOperatorTable(TraceLinks(trace), false).rows.size(), 1);
  const OperatorTable table = MakeOperatorTable(TraceLinks(trace), true);
  ASSERT_EQ(table.rows.size(), 2);
  EXPECT_EQ(table.rows[0].shapes, "[[2, 3], [3, 4]]");
}

TEST(KernelNames, TellWhatTheyComputeWith) {
  EXPECT_EQ(PrecisionOf("sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc"),
            "BF16");
  EXPECT_EQ(PrecisionOf("void at::native::vectorized_elementwise_kernel<4, "
                        "at::native::CUDAFunctor_add<float>, x>"),
            "FP32");
  EXPECT_EQ(PrecisionOf("ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn"), "FP16");
  EXPECT_EQ(PrecisionOf("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n"), "TF32");
  EXPECT_EQ(PrecisionOf("volta_sgemm_128x64_nn"), "FP32");
  EXPECT_EQ(PrecisionOf("cutlass_e4m3_e5m2_gemm"), "FP8");
  EXPECT_EQ(PrecisionOf("mystery"), "");
  EXPECT_EQ(PrecisionOf("void at::native::(anonymous namespace)::unrolled_elementwise_kernel<3, "
                        "at::native::(anonymous namespace)::batch_norm_update_stats_and_invert("
                        "at::Tensor const&, double, double, long)::{lambda()#1}::operator()() "
                        "const::{lambda(float, float)#1}, std::array<char*, 7ul> >(int, "
                        "std::array<char*, 7ul>)"),
            "FP32")
      << "factors are doubles in functions of any type";
  EXPECT_EQ(PrecisionOf("void batch_norm_backward_kernel<c10::Half, float, float, int>(double)"),
            "FP16");
  EXPECT_EQ(PrecisionOf("void at::native::elementwise_kernel<4, CUDAFunctor_add<double> >(int)"),
            "FP64");
  EXPECT_EQ(PrecisionOf("void scale(float const*, float*, double, int)"), "FP32");
  EXPECT_EQ(PrecisionOf("void scale(double*, float)"), "FP64");
  EXPECT_EQ(PrecisionOf("void fill(char*, double, int)"), "");
  EXPECT_EQ(PrecisionOf("void broken(float*, (double"), "FP32");
  EXPECT_EQ(PrecisionOf("pointwise_interior"), "");
  EXPECT_TRUE(UsesTensorCores("sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32"));
  EXPECT_FALSE(UsesTensorCores("volta_sgemm_128x64_nn"));
  EXPECT_EQ(FamilyOf("void cudnn::batch_norm_backward_kernel<float>"), "normalization");
  EXPECT_EQ(FamilyOf("ncclDevKernel_AllReduce_Sum_f32"), "communication");
  EXPECT_EQ(FamilyOf("mystery"), "");
}

}  // namespace
}  // namespace stepscope
