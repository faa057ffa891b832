# The engine for pages: halfword.wasm, and halfword-simd.wasm for those that have 128-bit vectors. js/src/engine.js
# chooses one and gives it the few functions that it imports, so that no JavaScript of emscripten is needed.
set(exported allocate release option_names feature_names options add_array set_policy open error kernels complete
             answer_texts answer_numbers answer_timed_out crc32 digest)
list(TRANSFORM exported PREPEND _halfword_)
list(JOIN exported "," exported)

# Small where it does not matter for speed, because every visitor downloads it. emscripten's own -Os inlines nothing at
# all, so its parts are named one by one.
set(small -O2 -mllvm -inline-threshold=10 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops)
set(hot ${engine_sources})
list(FILTER hot INCLUDE REGEX
  "engine/(lm/(language_model|linear|lstm|ngram|state_cache)|search/(frontier|memory_reader|predicting_reader|search|start_reader))\\.cc")
set(cold ${engine_sources} engine/bindings/wasm.cc engine/store/checksum.cc)
set_source_files_properties(engine/store/checksum.cc PROPERTIES UNITY_GROUP engine_store)
list(FILTER cold EXCLUDE REGEX "engine/lm/kernels/")
list(REMOVE_ITEM cold ${hot})

# All files of a folder at a time, which takes a third of the time.
function(add_objects name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  target_include_directories(${name} PRIVATE engine)
endfunction()

function(add_engine name kernels)
  add_objects(${name}-hot ${hot})
  add_objects(${name}-cold ${cold})
  target_compile_options(${name}-cold PRIVATE ${small})
  target_compile_options(${name}-hot PRIVATE -O2 -fno-unroll-loops)  # as fast as -O3, and 5 kB less to download
  add_executable(${name} engine/lm/kernels/kernels.cc ${kernels})
  target_include_directories(${name} PRIVATE engine)
  foreach(target ${name} ${name}-hot ${name}-cold)
    target_compile_options(${target} PRIVATE -Wall -Wextra -fno-rtti -mnontrapping-fptoint ${ARGN})
  endforeach()
  target_link_libraries(${name} PRIVATE ${name}-hot ${name}-cold)
  target_link_options(${name} PRIVATE -Os --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=4194304
    -sTOTAL_STACK=1048576 -sEXPORTED_FUNCTIONS=${exported}
    --js-library=${CMAKE_SOURCE_DIR}/engine/bindings/wasm_imports.js ${ARGN})
  set_target_properties(${name} PROPERTIES SUFFIX .wasm)
endfunction()

set_source_files_properties(engine/lm/kernels/simd128.cc PROPERTIES COMPILE_OPTIONS "${vectorise}")
add_engine(halfword engine/lm/kernels/portable.cc)
add_engine(halfword-simd engine/lm/kernels/simd128.cc -msimd128)
