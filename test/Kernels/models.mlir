// Graphs that exporters made, to machine code: every op in a kernel, nothing spilled.
// REQUIRES: shared, ptxas
// RUN: xz -dc %shared/models/lenet_weights_inside.mlir.xz > %t.mlir && mp-opt %t.mlir --mp-to-nvvm="target=sm_80 emit=cubin" -o /dev/null
// RUN: xz -dc %shared/models/gpt2_2layer.mlir.xz > %t.mlir && mp-opt %t.mlir --mp-to-nvvm="target=sm_90a emit=cubin" -o /dev/null
// RUN: xz -dc %shared/models/tflite_keras_cnn_int8.tosa.mlir.xz > %t.mlir && mp-opt %t.mlir --mp-to-nvvm="target=sm_75 emit=cubin" -o /dev/null
// RUN: xz -dc %shared/models/torch_amp_attention_step.mlir.xz > %t.mlir && mp-opt %t.mlir --mp-to-nvvm="target=sm_80 emit=cubin" -o /dev/null
