#include "lm/kernels/kernels.h"

#include <stdexcept>

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace halfword {

extern const Kernels portable_kernels;
#if defined(__x86_64__)
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#elif defined(__aarch64__)
extern const Kernels neon_kernels;
#elif defined(__wasm_simd128__)
extern const Kernels simd128_kernels;
#endif

const std::vector<const Kernels*>& available_kernels() {
  static const std::vector<const Kernels*> available = [] {
    std::vector<const Kernels*> list;
#if defined(__x86_64__)
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vnni");
    if (avx512) list.push_back(&avx512_kernels);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) list.push_back(&avx2_kernels);
#elif defined(__aarch64__)
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) list.push_back(&neon_kernels);
#elif defined(__wasm_simd128__)
    list.push_back(&simd128_kernels);  // the only ones: a page chooses between two builds
#endif
#if !defined(__wasm_simd128__)
    list.push_back(&portable_kernels);
#endif
    return list;
  }();
  return available;
}

const Kernels& kernels_named(const std::string& name) {
  std::string known;
  for (const Kernels* kernels : available_kernels()) {
    if (name.empty() || name == kernels->name) return *kernels;
    known += (known.empty() ? "" : ", ") + std::string(kernels->name);
  }
  throw std::invalid_argument("kernels '" + name + "' are not available on this machine; choose one of: " + known);
}

}  // namespace halfword
