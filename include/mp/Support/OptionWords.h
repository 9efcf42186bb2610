// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the text of a pass's or a pipeline's options: "format=bf16 target=sm_80".

#ifndef MP_SUPPORT_OPTIONWORDS_H
#define MP_SUPPORT_OPTIONWORDS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mpcore::support {

/// Words of "a=1 b={c=2 d} e='f g'": spaces in braces and quotes part nothing.
llvm::SmallVector<llvm::StringRef> optionWords(llvm::StringRef text);

/// An error where an option has two values, of which the first would be in vain. `where` begins the
/// message.
llvm::Error checkOptionsOnce(llvm::StringRef text, const llvm::Twine &where);

} // namespace mpcore::support

#endif // MP_SUPPORT_OPTIONWORDS_H
