# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How rooms, tools and tests are built. A room (a folder of lib/) is an object
# library; all MLIR rooms together with the plain ones make libMP.so, which links
# the MLIR and LLVM shared libraries and nothing else (mixing in the static MLIR
# archives gives two copies of every type).

set_property(GLOBAL PROPERTY MP_ROOMS "")
set_property(GLOBAL PROPERTY MP_UNITTESTS "")

# What is an error in rooms of our own builds (the preset dev, and release where CI is set). A user's compiler may know more
# warnings than ours does, which shall not keep mp from being built.
option(MP_STRICT "Warnings are errors, of clang with a longer list" OFF)
set(MP_STRICT_WARNINGS -Werror -Wdangling -Wdangling-capture -Wdangling-field -Wreturn-stack-address
    -Wnon-virtual-dtor -Wsuggest-override -Wimplicit-fallthrough -Wrange-loop-analysis -Wloop-analysis
    -Wredundant-move -Wpessimizing-move -Wunused-exception-parameter)

# Several files of a room are one translation unit: what a file takes are mostly headers and the templates that it instantiates,
# so that a whole build takes two thirds of the time. No two files of a room define one name at file scope alike, for this reason.
option(MP_UNITY "Compile several files of a room at once" OFF)

function(mp_set_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -Werror=return-type
    -fdiagnostics-color $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
  if(MP_ENABLE_CHECKS)
    target_compile_options(${target} PRIVATE -UNDEBUG)
  endif()
endfunction()

# mp_add_precompiled(NAME <header> ...): headers that many targets parse once, together.
function(mp_add_precompiled name)
  # Written once: a new time stamp would rebuild everything at each configuration.
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/Precompiled.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/Precompiled.cpp)
  mp_set_compile_options(${name})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# mp_precompile(TARGET NAME): TARGET starts from the headers of NAME. They are made with -fPIC, with which programs must agree.
function(mp_precompile target name)
  if(NOT MP_PRECOMPILED_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# mp_use_plain(TARGET): TARGET is part of a plain room or stands on plain rooms alone. Their inner loops (interpreter, formats,
# products on the CPU, solvers) are what the optimiser is for, whatever the build type.
function(mp_use_plain target)
  target_compile_options(${target} PRIVATE -O2)
  mp_precompile(${target} MPPrecompiledPlain)
endfunction()

# Rooms that know nothing of MLIR operations.
set(MP_PLAIN_ROOMS Support Numerics Target Policy Domains Assignment Emulator Runtime Layouts Cubin Performance Watch)

# mp_add_room(NAME file.cpp ... [ROOMS Dep ...])
#   ROOMS: the rooms it includes; unit tests of a plain room link these alone.
function(mp_add_room name)
  cmake_parse_arguments(ARG "" "" "ROOMS" ${ARGN})
  add_library(MP${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  mp_set_compile_options(MP${name})
  set_target_properties(MP${name} PROPERTIES UNITY_BUILD ${MP_UNITY} UNITY_BUILD_BATCH_SIZE 5)
  if(MP_STRICT AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(MP${name} PRIVATE ${MP_STRICT_WARNINGS})
  endif()
  set_property(TARGET MP${name} PROPERTY MP_ROOM_DEPS "${ARG_ROOMS}")
  set_property(GLOBAL APPEND PROPERTY MP_ROOMS ${name})
  if(name IN_LIST MP_PLAIN_ROOMS)
    mp_use_plain(MP${name})
  else()
    add_dependencies(MP${name} MPIncGen)
    mp_precompile(MP${name} MPPrecompiled)
  endif()
endfunction()

# All rooms that ROOMS include, directly or not.
function(mp_room_closure out)
  set(pending ${ARGN})
  set(closure "")
  while(pending)
    list(POP_FRONT pending room)
    if(NOT room IN_LIST closure)
      list(APPEND closure ${room})
      get_target_property(deps MP${room} MP_ROOM_DEPS)
      if(deps)
        list(APPEND pending ${deps})
      endif()
    endif()
  endwhile()
  set(${out} ${closure} PARENT_SCOPE)
endfunction()

# Graphs are millions of small allocations: with an allocator made for them mp-opt takes a fifth less time
# (docs/results/PeerGoals.md). Programs choose theirs; libMP leaves the choice to whoever links it.
set(MP_ALLOCATOR mimalloc CACHE STRING "Library whose malloc the tools use where it is found; empty: the C library's")
if(MP_ALLOCATOR)
  find_library(MP_ALLOCATOR_LIBRARY ${MP_ALLOCATOR})
endif()

# mp_use_allocator(TARGET): TARGET has the malloc that was chosen.
function(mp_use_allocator target)
  if(MP_ALLOCATOR AND MP_ALLOCATOR_LIBRARY) # before the C library, and though nothing names it
    target_link_libraries(${target} PRIVATE -Wl,--no-as-needed ${MP_ALLOCATOR_LIBRARY})
  endif()
endfunction()

# mp_add_program(NAME file.cpp ...): a program over libMP.
function(mp_add_program name)
  add_executable(${name} ${ARGN})
  mp_set_compile_options(${name})
  add_dependencies(${name} MPIncGen)
  mp_precompile(${name} MPPrecompiled)
  target_link_libraries(${name} PRIVATE MP)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

# mp_add_tool(NAME file.cpp ...): a program over libMP that users get.
function(mp_add_tool name)
  mp_add_program(${name} ${ARGN})
  mp_use_allocator(${name})
  install(TARGETS ${name} EXPORT MPTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

# mp_add_unittest(NAME file.cpp ... ROOMS Room ...)
#   With ROOMS, links those plain rooms alone (which proves that they stand alone);
#   without, links libMP. lit runs the program as one test (see test/lit.cfg.py).
function(mp_add_unittest name)
  cmake_parse_arguments(ARG "" "" "ROOMS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  mp_set_compile_options(${name})
  target_compile_definitions(${name} PRIVATE
    MP_SHARED_DIR="${MP_SHARED_DIR}" MP_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  if(ARG_ROOMS)
    mp_room_closure(rooms ${ARG_ROOMS})
    foreach(room ${rooms})
      target_link_libraries(${name} PRIVATE $<TARGET_OBJECTS:MP${room}>)
      add_dependencies(${name} MP${room})
    endforeach()
    target_link_libraries(${name} PRIVATE LLVM ${CMAKE_DL_LIBS})
    mp_precompile(${name} MPPrecompiledPlainTests)
  else()
    add_dependencies(${name} MPIncGen)
    target_link_libraries(${name} PRIVATE MP)
    mp_precompile(${name} MPPrecompiledTests)
    mp_use_allocator(${name})
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/bin)
  set_property(GLOBAL APPEND PROPERTY MP_UNITTESTS ${name})
endfunction()
