// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device made of host memory: allocations with bounds and initialisation tracking, and launches
// of PTX kernels.

#ifndef MP_EMULATOR_DEVICE_H
#define MP_EMULATOR_DEVICE_H

#include "mp/Emulator/Fault.h"
#include "mp/Emulator/Module.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <map>
#include <memory>
#include <optional>

namespace mpcore::emulator {

using DevicePtr = uint64_t;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// One kernel argument as bytes, in the order of the kernel's parameters.
class KernelArg {
public:
  template <class T> static KernelArg value(const T &v) {
    KernelArg arg;
    arg.data.resize(sizeof(T));
    std::memcpy(arg.data.data(), &v, sizeof(T));
    return arg;
  }
  static KernelArg bytes(llvm::ArrayRef<uint8_t> v) {
    KernelArg arg;
    arg.data.assign(v.begin(), v.end());
    return arg;
  }
  llvm::SmallVector<uint8_t, 8> data;
};

/// A range of global memory.
struct Watch {
  DevicePtr address = 0;
  uint64_t bytes = 0; // 0: none
};

struct LaunchOptions {
  unsigned threads = 0;               // host threads over blocks; 0: one per core
  bool reverse = false;               // run blocks, warps and lanes in reverse order
  bool checkRaces = true;             // shared memory, between and inside warps
  bool checkUninitialized = true;     // reads of shared and global bytes nobody wrote
  bool countConflicts = true;         // bank conflicts and global sectors
  uint64_t maxInstructions = 0;       // warp instructions per block; 0: no limit
  uint64_t maxLaunchInstructions = 0; // of all blocks, each counted as 1000 more; 0: no limit
  uint32_t maxSharedBytes = 232448;   // static + dynamic, per block (227 KiB)
  bool countTouched = false;          // LaunchStats::touchedSectors
  uint64_t sampleBlocks = 0;          // run about so many, evenly spread, and scale counts; 0: all
  Watch watch;                        // LaunchStats::watched tells who wrote there last
  std::string chip; // numerics of the Tensor Cores: "sm_80"; empty: the module's .target
};

struct LaunchStats {
  uint64_t warpInstructions = 0, laneInstructions = 0;
  std::map<std::string, uint64_t> opcodes; // warp executions per opcode with modifiers
  uint64_t globalRequests = 0;             // warp-wide accesses
  uint64_t globalSectors = 0;              // 32-byte sectors they touch
  uint64_t globalBytes = 0;                // bytes asked for by the lanes
  uint64_t sharedRequests = 0;             // warp-wide accesses
  uint64_t sharedWavefronts = 0;           // cycles they need
  uint64_t bankConflicts = 0;              // cycles beyond the least possible
  uint64_t barriers = 0;                   // completed block barriers
  uint64_t touchedSectors = 0;             // of global memory, each counted once in a launch
  uint64_t blocks = 0;                     // of the grid
  uint64_t sampledBlocks = 0;              // of them, that ran; counts are scaled to the grid
  uint32_t sharedBytes = 0;                // per block
  uint32_t threads = 0;                    // per block
  double seconds = 0;
  std::string printed; // vprintf output
  std::optional<Fault>
      watched; // of kind WrongValue, without a message: who wrote last to LaunchOptions::watch
  void add(const LaunchStats &other);
  void print(llvm::raw_ostream &os) const;
};

class GlobalMemory;

class Device {
public:
  Device();
  ~Device();
  /// `align`: a power of two, at least 256 is used. Zero bytes give a distinct address that nothing
  /// can be read from.
  llvm::Expected<DevicePtr> alloc(uint64_t bytes, uint64_t align = 256);
  llvm::Error free(DevicePtr ptr);
  llvm::Error write(DevicePtr ptr, llvm::ArrayRef<uint8_t> data);
  /// Fails on bytes that nobody wrote unless `allowUninitialized`.
  llvm::Error read(DevicePtr ptr, llvm::MutableArrayRef<uint8_t> data,
                   bool allowUninitialized = false);
  llvm::Error fill(DevicePtr ptr, uint8_t value, uint64_t bytes);
  llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes);
  /// Address and size of a module's .global or .const variable (placed on first use).
  llvm::Expected<std::pair<DevicePtr, uint64_t>> global(const Module &module, llvm::StringRef name);

  /// Runs the whole grid and returns when it is done. Grid and block sizes follow CUDA's limits; a
  /// grid with a zero extent is an error. A fault of the kernel is a FaultError; memory keeps what
  /// was written until then.
  llvm::Expected<LaunchStats> launch(const Module &module, llvm::StringRef kernel, Dim3 grid,
                                     Dim3 block, uint32_t dynamicSharedBytes,
                                     llvm::ArrayRef<KernelArg> args,
                                     const LaunchOptions &options = {});

private:
  llvm::Error place(const Module &module);
  std::unique_ptr<GlobalMemory> memory;
};

} // namespace mpcore::emulator

#endif
