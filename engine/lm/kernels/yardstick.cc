#include "lm/kernels/yardstick.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace halfword {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t outputs = 1800;
constexpr std::size_t inputs = 600;

/// The shortest time, in seconds, that `work` takes in many attempts.
template <typename Work>
double best_seconds(const Work& work) {
  double best = 1e9;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const Clock::time_point begun = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begun).count());
  }
  return best;
}

}  // namespace

MultiplyRate measure_rate(const Kernels& kernels, std::size_t rows) {
  std::vector<std::int8_t> weights(outputs * inputs);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::int8_t>(i * 37 % 255);
  const Int8Matrix int8(weights, std::vector<float>(outputs, 1.0F));
  const FloatMatrix float32(std::vector<float>(weights.begin(), weights.end()), outputs);
  const AlignedVector<std::uint8_t> bytes(rows * inputs, 77);
  const AlignedVector<float> floats(rows * inputs, 0.3F);
  AlignedVector<std::int32_t> sums(rows * int8.outputs);
  AlignedVector<float> results(rows * float32.outputs);
  const double products = 1e-9 * static_cast<double>(rows * outputs * inputs);
  return {products / best_seconds([&] { kernels.multiply_int8(int8, bytes.data(), rows, sums.data()); }),
          products / best_seconds([&] { kernels.multiply_float(float32, floats.data(), rows, results.data()); })};
}

double measure_int8_peak(const Kernels& kernels) {
  if (kernels.int8_products == nullptr) return 0.0;
  double products = 0.0;
  const double seconds = best_seconds([&] { products = static_cast<double>(kernels.int8_products()); });
  return 1e-9 * products / seconds;
}

}  // namespace halfword
