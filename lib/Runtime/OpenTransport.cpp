// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the library that moves bytes between processes, beside the one that asks.

#include "mp/Runtime/Collectives.h"

#include <cstring>
#include <dlfcn.h>
#include <string>

namespace {

std::string reason;
void (*closeTransport)(void) = nullptr;

/// The folder of the library that this code is in.
std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&mp_rt_open_mpi), &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

template <typename Function> Function *find(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  Function *function = nullptr;
  std::memcpy(&function, &symbol, sizeof symbol);
  return function;
}

} // namespace

extern "C" {

const mp_rt_transport *mp_rt_open_mpi(void) {
  static const mp_rt_transport *opened = nullptr;
  if (opened)
    return opened;
  std::string path = ownFolder() + "libMPTransportMPI.so";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL); // for MPI's own components
  if (!library) {
    reason = "no transport between processes: " + std::string(dlerror()) +
             "; build mp where MPI is installed (Debian: libopenmpi-dev)";
    return nullptr;
  }
  auto *open = find<const mp_rt_transport *(const char **)>(library, "mp_transport_open");
  closeTransport = find<void(void)>(library, "mp_transport_close");
  const char *why = "is not a transport of this version";
  if (open && closeTransport)
    opened = open(&why);
  if (!opened)
    reason = "'" + path + "': " + why;
  return opened;
}

void mp_rt_close_mpi(void) {
  if (closeTransport)
    closeTransport();
  closeTransport = nullptr;
}

const char *mp_rt_transport_error(void) { return reason.c_str(); }
}
