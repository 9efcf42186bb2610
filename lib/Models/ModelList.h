// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The models, one function each that gives its name, options and builder.

#ifndef MP_MODELS_MODELLIST_H
#define MP_MODELS_MODELLIST_H

#include "mp/Models/Models.h"

namespace mlir::mp {

// Transformers.cpp
ModelInfo bertModel();
ModelInfo gpt2Model();
ModelInfo llamaModel();
ModelInfo vitModel();

// Networks.cpp
ModelInfo mlpModel();
ModelInfo cnnModel();
ModelInfo resnetBlockModel();
ModelInfo resnet18Model();
ModelInfo resnet50Model();
ModelInfo chainModel();

// Digits.cpp
ModelInfo digitsModel();

} // namespace mlir::mp

#endif // MP_MODELS_MODELLIST_H
