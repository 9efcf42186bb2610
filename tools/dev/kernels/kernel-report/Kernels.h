// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels from files: cubins as they are, PTX through ptxas.

#ifndef MP_TOOLS_DEV_KERNELREPORT_KERNELS_H
#define MP_TOOLS_DEV_KERNELREPORT_KERNELS_H

#include "mp/Cubin/CubinStatistics.h"
#include "mp/Performance/Part.h"

#include <map>
#include <memory>

namespace kernelreport {

struct LoadedFile {
  std::string path;
  std::unique_ptr<mpcore::cubin::Cubin> cubin;
  std::vector<mpcore::cubin::FunctionStatistics> kernels; ///< point into `cubin`
  /// ptxas's remarks about speed, C7505 to C7519: wgmma that it serialises and the like.
  std::vector<std::string> notes;
};

struct LoadOptions {
  std::string ptxas;    ///< empty: found when needed
  std::string nvdisasm; ///< empty: instructions are decoded here
};

/// Reads a .cubin or .ptx file. An error says what is wrong with the file, or which tool is
/// missing.
llvm::Expected<LoadedFile> loadFile(llvm::StringRef path, const LoadOptions &options);

/// Files among `paths`, folders taken apart: their .ptx and .cubin files in order of names. Errors
/// for what does not exist and for folders without any.
llvm::Expected<std::vector<std::string>> listFiles(llvm::ArrayRef<std::string> paths);

/// A launch knows these, a cubin does not.
struct LaunchFacts {
  unsigned threads = 0; ///< per block; 0: what the kernel requires
  unsigned dynamicShared = 0;
  double elementBytes = 0; ///< 0: no figures per element
};

/// Everything that is counted or follows from counts, by name, as gates and JSON call it.
std::map<std::string, double> metricsOf(const LoadedFile &file,
                                        const mpcore::cubin::FunctionStatistics &kernel,
                                        const LaunchFacts &facts);

/// The part that stands for a compute capability; null if none is known.
const mpcore::performance::Part *partFor(unsigned sm);

} // namespace kernelreport

#endif // MP_TOOLS_DEV_KERNELREPORT_KERNELS_H
