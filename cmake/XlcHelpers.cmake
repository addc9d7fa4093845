# How a part of xlc is declared: one call per folder, so that every CMakeLists
# under lib/ and tools/ is a few lines that name files and dependencies.

# Designated initialisers name what differs from the defaults.
set(XLC_WARNINGS -Wall -Wextra -Wno-unused-parameter -Wno-missing-designated-field-initializers)
if(XLC_WERROR)
  list(APPEND XLC_WARNINGS -Werror)
endif()
if(XLC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()
if(XLC_FUZZ) # beside the sanitizers, which branches were taken; -O1 builds in half the time
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer -g1 -O1)
  add_link_options(-fsanitize=address,undefined)
endif()

# The headers of MLIR take seconds to parse; all compiler-side targets share a
# precompiled copy: one without RTTI, as LLVM is built, and one with it, for what throws: unit tests, commands and the
# spec's reader, none of which has a hot loop. A copy is bound to its level of optimization.
file(WRITE ${CMAKE_BINARY_DIR}/pch/pch.cpp "// carries the precompiled header\n")
foreach(pch xlc-pch xlc-pch-rtti)
  add_library(${pch} OBJECT ${CMAKE_BINARY_DIR}/pch/pch.cpp)
endforeach()
target_precompile_headers(xlc-pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Precompiled.h)
target_precompile_headers(xlc-pch-rtti PRIVATE ${CMAKE_SOURCE_DIR}/cmake/PrecompiledRtti.h)
function(xlc_compiler_options target)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)
  target_include_directories(${target} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  # Half of what clang inlines by itself: an eighth less time to compile, and plans take as long.
  target_compile_options(${target} PRIVATE -fno-rtti ${XLC_WARNINGS} "SHELL:-mllvm -inline-threshold=120")
  if(XLC_SANITIZE) # half the time to compile, and the tests of what is compiled so take as long
    target_compile_options(${target} PRIVATE -O0)
  endif()
  set_target_properties(${target} PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
endfunction()
xlc_compiler_options(xlc-pch)
xlc_compiler_options(xlc-pch-rtti)
set(XLC_RTTI -frtti -O0 -DGTEST_HAS_PTHREAD=1) # the last as GTest::gtest has it
target_compile_options(xlc-pch-rtti PRIVATE ${XLC_RTTI})

# What reads a stranger's files, and the placement of buffers: compiled anew where XLC_REST_FROM is given.
set(XLC_READERS XLCSupport XLCSpec XLCOnnx XLCImport XLCRaise XLCPlacement)

# Where XLC_REST_FROM is given: sources of a target are compiled in groups (CMake's unity builds), which takes half of the time. Files of
# one group open the same namespace. The other tree compiles each file alone, so that a file that lacks an include is found.
function(xlc_group_sources target)
  if(NOT XLC_REST_FROM)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(in_group 12)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      file(STRINGS ${source} opened REGEX "^using namespace (mlir|llvm);" LIMIT_COUNT 1)
      string(MAKE_C_IDENTIFIER "${opened}" opened)
      math(EXPR number${opened} "${number${opened}} + 1")
      math(EXPR group "${number${opened}} / ${in_group}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}${opened}${group})
    endif()
  endforeach()
endfunction()

# LLVM and MLIR: shared libraries, or their archives for a program with the property XLC_ARCHIVES, which starts in a tenth of the time
# and needs no LLVM where it runs.
add_library(xlc-llvm INTERFACE)
file(GLOB llvm_archives ${LLVM_LIBRARY_DIRS}/libMLIR*.a ${LLVM_LIBRARY_DIRS}/libLLVM*.a)
set(has_archives $<BOOL:$<TARGET_PROPERTY:XLC_ARCHIVES>>)
target_link_libraries(xlc-llvm INTERFACE "$<IF:${has_archives},${llvm_archives},MLIR;LLVM>")

# xlc_add_library(NAME SOURCES ... LINK ...): a compiler-side library.
function(xlc_add_library name)
  cmake_parse_arguments(ARG "NO_PCH;RTTI" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  if(XLC_REST_FROM AND NOT name IN_LIST XLC_READERS)
    set(ARG_SOURCES ${CMAKE_BINARY_DIR}/pch/pch.cpp) # a library needs one
    list(PREPEND ARG_LINK ${XLC_REST_FROM}/lib/lib${name}.a)
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  xlc_compiler_options(${name})
  if(ARG_RTTI)
    target_compile_options(${name} PRIVATE ${XLC_RTTI})
    target_precompile_headers(${name} REUSE_FROM xlc-pch-rtti)
  elseif(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM xlc-pch)
  endif()
  xlc_group_sources(${name})
  add_dependencies(${name} xlc-headers ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} xlc-llvm)
endfunction()

# xlc_add_tool(NAME SOURCES ... LINK ...): an executable under build/bin.
function(xlc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  xlc_compiler_options(${name})
  target_precompile_headers(${name} REUSE_FROM xlc-pch)
  add_dependencies(${name} xlc-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# xlc_add_dialect(NAME): generates ops, interfaces, attributes and enums of
# include/xlc/Dialect/NAME/NAME{Dialect,Attrs,Ops}.td.
function(xlc_add_dialect name mnemonic)
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs)
  mlir_tablegen(${name}Interfaces.h.inc -gen-op-interface-decls)
  mlir_tablegen(${name}Interfaces.cpp.inc -gen-op-interface-defs)
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${mnemonic})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${mnemonic})
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${name}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${mnemonic})
  mlir_tablegen(${name}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${mnemonic})
  add_public_tablegen_target(XLC${name}IncGen)
  add_dependencies(xlc-headers XLC${name}IncGen)
endfunction()

# xlc_add_passes(NAME): pass declarations of include/xlc/NAME/Passes.td.
function(xlc_add_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${name})
  add_public_tablegen_target(XLC${name}PassesIncGen)
  add_dependencies(xlc-headers XLC${name}PassesIncGen)
endfunction()

add_custom_target(xlc-headers)
add_dependencies(xlc-pch xlc-headers)
add_dependencies(xlc-pch-rtti xlc-headers)
