# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run by CPack on what is installed, before it becomes packages: libraries and programs look in
# LLVM's private folder where they need LLVM, and nowhere of their own, as the system finds the rest.
file(GLOB_RECURSE files LIST_DIRECTORIES false ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
foreach(file ${files})
  if(IS_SYMLINK ${file})
    continue()
  endif()
  file(READ ${file} magic LIMIT 4 HEX)
  if(NOT magic STREQUAL "7f454c46")
    continue()
  endif()
  if(file MATCHES "libMPRuntime|libMPTransportMPI|libMPEmulatedDriver")
    file(RPATH_REMOVE FILE ${file})
  else()
    file(RPATH_SET FILE ${file} NEW_RPATH ${CPACK_MP_LIBRARY_DIR})
  endif()
endforeach()
