# The engine for pages: halfword.wasm, and halfword-simd.wasm for those that have 128-bit vectors. js/src/engine.js
# chooses one and gives it the few functions that it imports, so that no JavaScript of emscripten is needed.
set(exported allocate release option_names feature_names options add_array set_policy open error kernels complete
             answer_texts answer_numbers answer_timed_out crc32 digest)
list(TRANSFORM exported PREPEND _halfword_)
list(JOIN exported "," exported)

# Small where it does not matter for speed, because every visitor downloads it. emscripten's own -Os inlines nothing at
# all, so its parts are named one by one.
set(cold ${engine_sources} engine/bindings/wasm.cc engine/store/checksum.cc)
list(FILTER cold EXCLUDE REGEX "engine/(lm|search)/")
set_source_files_properties(${cold} PROPERTIES COMPILE_OPTIONS
  "-O2;-mllvm;-inline-threshold=40;-fno-vectorize;-fno-slp-vectorize;-fno-unroll-loops")

function(add_engine name)
  add_executable(${name} ${engine_sources} engine/bindings/wasm.cc engine/store/checksum.cc)
  set_target_properties(${name} PROPERTIES SUFFIX .wasm)
  target_include_directories(${name} PRIVATE engine)
  target_compile_options(${name} PRIVATE -Wall -Wextra -mnontrapping-fptoint ${ARGN})
  target_link_options(${name} PRIVATE --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH
    -sINITIAL_MEMORY=4194304 -sTOTAL_STACK=1048576 -sEXPORTED_FUNCTIONS=${exported} ${ARGN})
endfunction()

add_engine(halfword)
add_engine(halfword-simd -msimd128)
target_sources(halfword-simd PRIVATE engine/lm/kernels/simd128.cc)
set_source_files_properties(engine/lm/kernels/simd128.cc PROPERTIES COMPILE_OPTIONS "${vectorise}")
