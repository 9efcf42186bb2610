// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of states of a training, each a safetensors file and a manifest with its checksum. A
// state counts once its manifest is in place; a reader takes the newest that is whole.

#ifndef MP_LIB_EXECUTION_TRAIN_CHECKPOINT_H
#define MP_LIB_EXECUTION_TRAIN_CHECKPOINT_H

#include "mp/Execution/Array.h"
#include "llvm/Support/JSON.h"

namespace mlir::mp {

/// The state of a training before step `step`.
struct SavedState {
  int64_t step = 0;
  std::vector<Array> arguments; ///< of the step's program, those without batches
  llvm::json::Object extra;     ///< whatever else the loop goes on with
};

class CheckpointFolder {
public:
  /// Makes the folder and locks it against other processes. Errors name it.
  static llvm::Expected<CheckpointFolder> open(llvm::StringRef path);
  CheckpointFolder(CheckpointFolder &&) = default;

  /// Writes a state: data, then manifest, each to a temporary file that is synchronised and
  /// renamed.
  llvm::Error save(const SavedState &state);

  /// The newest whole state that `accepts`, or nothing. `notes` gets a line for each that is
  /// damaged or refused, with the reason.
  llvm::Expected<std::optional<SavedState>>
  load(llvm::function_ref<bool(const SavedState &)> accepts, std::vector<std::string> &notes) const;

  /// Removes states but the newest `newest` and those in `kept`.
  void retain(size_t newest, llvm::ArrayRef<int64_t> kept);

  /// Removes states but the newest, and what saves that a kill or a full disk ended have left.
  void makeRoom();

  /// Removes states younger than `step`.
  void removeAfter(int64_t step);

  /// Steps of the states there are, ascending.
  std::vector<int64_t> steps() const;

private:
  explicit CheckpointFolder(std::string path) : path(std::move(path)) {}
  void remove(int64_t step);
  std::string fileOf(int64_t step, llvm::StringRef extension) const;
  llvm::Expected<SavedState> read(int64_t step) const;

  std::string path;
};

/// A SHA-256 of arrays, types and shapes included.
std::string hashOfArrays(llvm::ArrayRef<Array> arrays);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRAIN_CHECKPOINT_H
