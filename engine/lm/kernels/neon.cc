#include <arm_neon.h>

#include "lm/kernels/common.h"

namespace halfword {
namespace {

struct Neon : AnySet<Neon, 16> {
  static Floats fused(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
};

constexpr std::size_t vectors = 4;  // of four outputs each

/// `Rows` rows of one group of 16 outputs. The 128 is subtracted from the inputs, because this product takes signed
/// bytes.
template <int Rows>
void multiply_group(const Int8Matrix& matrix, std::size_t output, const std::uint8_t* inputs, std::int32_t* outputs) {
  const std::size_t width = matrix.inputs;
  const std::int8_t* weights = matrix.weights.data() + output * width;
  int32x4_t sums[Rows][vectors];
  for (int row = 0; row < Rows; ++row) {
    for (std::size_t i = 0; i < vectors; ++i) sums[row][i] = vdupq_n_s32(0);
  }
  for (std::size_t input = 0; input < width; input += input_group) {
    for (int row = 0; row < Rows; ++row) {
      std::uint32_t lane;
      __builtin_memcpy(&lane, inputs + static_cast<std::size_t>(row) * width + input, sizeof(lane));
      const int8x16_t values = vreinterpretq_s8_u32(vdupq_n_u32(lane ^ 0x80808080U));
      for (std::size_t i = 0; i < vectors; ++i) {
        sums[row][i] = vdotq_s32(sums[row][i], values, vld1q_s8(weights + input * output_group + 16 * i));
      }
    }
  }
  for (int row = 0; row < Rows; ++row) {
    std::int32_t* target = outputs + static_cast<std::size_t>(row) * matrix.outputs + output;
    for (std::size_t i = 0; i < vectors; ++i) vst1q_s32(target + 4 * i, sums[row][i]);
  }
}

}  // namespace

extern const Kernels neon_kernels;
const Kernels neon_kernels =
    make_kernels<Neon>("neon-dotprod", multiply_in_groups<multiply_group<4>, multiply_group<1>>);

}  // namespace halfword
