// The trajectories of the rules of known frameworks: scale, count of clean steps, tolerated
// overflows, on two sequences of overflows (a, b) and on the edges of each rule. The expected
// values follow from the formulas of a reference document; no framework was run for them.

// RUN: mp-run %s --entry=torch_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=TORCH-A
// RUN: mp-run %s --device=emulator --entry=torch_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=TORCH-A
// TORCH-A: step 0, result 0: f32 = [32768]
// TORCH-A: step 0, result 1: i32 = [0]
// TORCH-A: step 1, result 0: f32 = [16384]
// TORCH-A: step 1, result 1: i32 = [0]
// TORCH-A: step 2, result 0: f32 = [16384]
// TORCH-A: step 2, result 1: i32 = [1]
// TORCH-A: step 3, result 0: f32 = [16384]
// TORCH-A: step 3, result 1: i32 = [2]
// TORCH-A: step 4, result 0: f32 = [32768]
// TORCH-A: step 4, result 1: i32 = [0]
// TORCH-A: step 5, result 0: f32 = [16384]
// TORCH-A: step 5, result 1: i32 = [0]
// TORCH-A: step 6, result 0: f32 = [16384]
// TORCH-A: step 6, result 1: i32 = [1]
// TORCH-A: step 7, result 0: f32 = [16384]
// TORCH-A: step 7, result 1: i32 = [2]
// TORCH-A: step 8, result 0: f32 = [32768]
// TORCH-A: step 8, result 1: i32 = [0]
// TORCH-A: step 9, result 0: f32 = [32768]
// TORCH-A: step 9, result 1: i32 = [1]
// TORCH-A: step 10, result 0: f32 = [32768]
// TORCH-A: step 10, result 1: i32 = [2]
// TORCH-A: step 11, result 0: f32 = [65536]
// TORCH-A: step 11, result 1: i32 = [0]
func.func @torch_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=apex_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=APEX-A
// APEX-A: step 0, result 0: f32 = [32768]
// APEX-A: step 0, result 1: i32 = [0]
// APEX-A: step 1, result 0: f32 = [16384]
// APEX-A: step 1, result 1: i32 = [0]
// APEX-A: step 2, result 0: f32 = [16384]
// APEX-A: step 2, result 1: i32 = [1]
// APEX-A: step 3, result 0: f32 = [16384]
// APEX-A: step 3, result 1: i32 = [2]
// APEX-A: step 4, result 0: f32 = [32768]
// APEX-A: step 4, result 1: i32 = [0]
// APEX-A: step 5, result 0: f32 = [16384]
// APEX-A: step 5, result 1: i32 = [0]
// APEX-A: step 6, result 0: f32 = [16384]
// APEX-A: step 6, result 1: i32 = [1]
// APEX-A: step 7, result 0: f32 = [16384]
// APEX-A: step 7, result 1: i32 = [2]
// APEX-A: step 8, result 0: f32 = [32768]
// APEX-A: step 8, result 1: i32 = [0]
// APEX-A: step 9, result 0: f32 = [32768]
// APEX-A: step 9, result 1: i32 = [1]
// APEX-A: step 10, result 0: f32 = [32768]
// APEX-A: step 10, result 1: i32 = [2]
// APEX-A: step 11, result 0: f32 = [65536]
// APEX-A: step 11, result 1: i32 = [0]
func.func @apex_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep, max = 16777216.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=jmp_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=JMP-A
// JMP-A: step 0, result 0: f32 = [32768]
// JMP-A: step 0, result 1: i32 = [0]
// JMP-A: step 1, result 0: f32 = [16384]
// JMP-A: step 1, result 1: i32 = [0]
// JMP-A: step 2, result 0: f32 = [16384]
// JMP-A: step 2, result 1: i32 = [1]
// JMP-A: step 3, result 0: f32 = [16384]
// JMP-A: step 3, result 1: i32 = [2]
// JMP-A: step 4, result 0: f32 = [32768]
// JMP-A: step 4, result 1: i32 = [0]
// JMP-A: step 5, result 0: f32 = [16384]
// JMP-A: step 5, result 1: i32 = [0]
// JMP-A: step 6, result 0: f32 = [16384]
// JMP-A: step 6, result 1: i32 = [1]
// JMP-A: step 7, result 0: f32 = [16384]
// JMP-A: step 7, result 1: i32 = [2]
// JMP-A: step 8, result 0: f32 = [32768]
// JMP-A: step 8, result 1: i32 = [0]
// JMP-A: step 9, result 0: f32 = [32768]
// JMP-A: step 9, result 1: i32 = [1]
// JMP-A: step 10, result 0: f32 = [32768]
// JMP-A: step 10, result 1: i32 = [2]
// JMP-A: step 11, result 0: f32 = [65536]
// JMP-A: step 11, result 1: i32 = [0]
func.func @jmp_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=tf_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=TF-A
// TF-A: step 0, result 0: f32 = [32768]
// TF-A: step 0, result 1: i32 = [0]
// TF-A: step 1, result 0: f32 = [16384]
// TF-A: step 1, result 1: i32 = [0]
// TF-A: step 2, result 0: f32 = [16384]
// TF-A: step 2, result 1: i32 = [1]
// TF-A: step 3, result 0: f32 = [16384]
// TF-A: step 3, result 1: i32 = [2]
// TF-A: step 4, result 0: f32 = [32768]
// TF-A: step 4, result 1: i32 = [0]
// TF-A: step 5, result 0: f32 = [16384]
// TF-A: step 5, result 1: i32 = [0]
// TF-A: step 6, result 0: f32 = [16384]
// TF-A: step 6, result 1: i32 = [1]
// TF-A: step 7, result 0: f32 = [16384]
// TF-A: step 7, result 1: i32 = [2]
// TF-A: step 8, result 0: f32 = [32768]
// TF-A: step 8, result 1: i32 = [0]
// TF-A: step 9, result 0: f32 = [32768]
// TF-A: step 9, result 1: i32 = [1]
// TF-A: step 10, result 0: f32 = [32768]
// TF-A: step 10, result 1: i32 = [2]
// TF-A: step 11, result 0: f32 = [65536]
// TF-A: step 11, result 1: i32 = [0]
func.func @tf_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = at_least, beyond = keep, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=keras_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=KERAS-A
// KERAS-A: step 0, result 0: f32 = [32768]
// KERAS-A: step 0, result 1: i32 = [0]
// KERAS-A: step 1, result 0: f32 = [16384]
// KERAS-A: step 1, result 1: i32 = [0]
// KERAS-A: step 2, result 0: f32 = [16384]
// KERAS-A: step 2, result 1: i32 = [1]
// KERAS-A: step 3, result 0: f32 = [16384]
// KERAS-A: step 3, result 1: i32 = [2]
// KERAS-A: step 4, result 0: f32 = [32768]
// KERAS-A: step 4, result 1: i32 = [0]
// KERAS-A: step 5, result 0: f32 = [16384]
// KERAS-A: step 5, result 1: i32 = [0]
// KERAS-A: step 6, result 0: f32 = [16384]
// KERAS-A: step 6, result 1: i32 = [1]
// KERAS-A: step 7, result 0: f32 = [16384]
// KERAS-A: step 7, result 1: i32 = [2]
// KERAS-A: step 8, result 0: f32 = [32768]
// KERAS-A: step 8, result 1: i32 = [0]
// KERAS-A: step 9, result 0: f32 = [32768]
// KERAS-A: step 9, result 1: i32 = [1]
// KERAS-A: step 10, result 0: f32 = [32768]
// KERAS-A: step 10, result 1: i32 = [2]
// KERAS-A: step 11, result 0: f32 = [65536]
// KERAS-A: step 11, result 1: i32 = [0]
func.func @keras_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_clean, counter = at_least, beyond = infinity>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=apex_hysteresis_a --steps=12 --input=f32:65536.0 --input=i32:0 --input=i32:2 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=APEX-HYSTERESIS-A
// APEX-HYSTERESIS-A: step 0, result 0: f32 = [65536]
// APEX-HYSTERESIS-A: step 0, result 1: i32 = [0]
// APEX-HYSTERESIS-A: step 0, result 2: i32 = [1]
// APEX-HYSTERESIS-A: step 1, result 0: f32 = [32768]
// APEX-HYSTERESIS-A: step 1, result 1: i32 = [0]
// APEX-HYSTERESIS-A: step 1, result 2: i32 = [0]
// APEX-HYSTERESIS-A: step 2, result 0: f32 = [32768]
// APEX-HYSTERESIS-A: step 2, result 1: i32 = [1]
// APEX-HYSTERESIS-A: step 2, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 3, result 0: f32 = [32768]
// APEX-HYSTERESIS-A: step 3, result 1: i32 = [2]
// APEX-HYSTERESIS-A: step 3, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 4, result 0: f32 = [65536]
// APEX-HYSTERESIS-A: step 4, result 1: i32 = [0]
// APEX-HYSTERESIS-A: step 4, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 5, result 0: f32 = [65536]
// APEX-HYSTERESIS-A: step 5, result 1: i32 = [0]
// APEX-HYSTERESIS-A: step 5, result 2: i32 = [1]
// APEX-HYSTERESIS-A: step 6, result 0: f32 = [65536]
// APEX-HYSTERESIS-A: step 6, result 1: i32 = [1]
// APEX-HYSTERESIS-A: step 6, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 7, result 0: f32 = [65536]
// APEX-HYSTERESIS-A: step 7, result 1: i32 = [2]
// APEX-HYSTERESIS-A: step 7, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 8, result 0: f32 = [131072]
// APEX-HYSTERESIS-A: step 8, result 1: i32 = [0]
// APEX-HYSTERESIS-A: step 8, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 9, result 0: f32 = [131072]
// APEX-HYSTERESIS-A: step 9, result 1: i32 = [1]
// APEX-HYSTERESIS-A: step 9, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 10, result 0: f32 = [131072]
// APEX-HYSTERESIS-A: step 10, result 1: i32 = [2]
// APEX-HYSTERESIS-A: step 10, result 2: i32 = [2]
// APEX-HYSTERESIS-A: step 11, result 0: f32 = [262144]
// APEX-HYSTERESIS-A: step 11, result 1: i32 = [0]
// APEX-HYSTERESIS-A: step 11, result 2: i32 = [2]
func.func @apex_hysteresis_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 2, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=megatron_a --steps=12 --input=f32:65536.0 --input=i32:0 --input=i32:2 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=MEGATRON-A
// MEGATRON-A: step 0, result 0: f32 = [65536]
// MEGATRON-A: step 0, result 1: i32 = [0]
// MEGATRON-A: step 0, result 2: i32 = [1]
// MEGATRON-A: step 1, result 0: f32 = [32768]
// MEGATRON-A: step 1, result 1: i32 = [0]
// MEGATRON-A: step 1, result 2: i32 = [0]
// MEGATRON-A: step 2, result 0: f32 = [32768]
// MEGATRON-A: step 2, result 1: i32 = [1]
// MEGATRON-A: step 2, result 2: i32 = [0]
// MEGATRON-A: step 3, result 0: f32 = [32768]
// MEGATRON-A: step 3, result 1: i32 = [2]
// MEGATRON-A: step 3, result 2: i32 = [0]
// MEGATRON-A: step 4, result 0: f32 = [65536]
// MEGATRON-A: step 4, result 1: i32 = [0]
// MEGATRON-A: step 4, result 2: i32 = [2]
// MEGATRON-A: step 5, result 0: f32 = [65536]
// MEGATRON-A: step 5, result 1: i32 = [0]
// MEGATRON-A: step 5, result 2: i32 = [1]
// MEGATRON-A: step 6, result 0: f32 = [65536]
// MEGATRON-A: step 6, result 1: i32 = [1]
// MEGATRON-A: step 6, result 2: i32 = [1]
// MEGATRON-A: step 7, result 0: f32 = [65536]
// MEGATRON-A: step 7, result 1: i32 = [2]
// MEGATRON-A: step 7, result 2: i32 = [1]
// MEGATRON-A: step 8, result 0: f32 = [131072]
// MEGATRON-A: step 8, result 1: i32 = [0]
// MEGATRON-A: step 8, result 2: i32 = [2]
// MEGATRON-A: step 9, result 0: f32 = [131072]
// MEGATRON-A: step 9, result 1: i32 = [1]
// MEGATRON-A: step 9, result 2: i32 = [2]
// MEGATRON-A: step 10, result 0: f32 = [131072]
// MEGATRON-A: step 10, result 1: i32 = [2]
// MEGATRON-A: step 10, result 2: i32 = [2]
// MEGATRON-A: step 11, result 0: f32 = [262144]
// MEGATRON-A: step 11, result 1: i32 = [0]
// MEGATRON-A: step 11, result 2: i32 = [2]
func.func @megatron_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 2, refill = on_growth, counter = exact, beyond = infinity, min = 1.0>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=deepspeed_one_a --steps=12 --input=f32:65536.0 --input=i32:0 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=DEEPSPEED-ONE-A
// DEEPSPEED-ONE-A: step 0, result 0: f32 = [32768]
// DEEPSPEED-ONE-A: step 1, result 0: f32 = [16384]
// DEEPSPEED-ONE-A: step 2, result 0: f32 = [16384]
// DEEPSPEED-ONE-A: step 3, result 0: f32 = [16384]
// DEEPSPEED-ONE-A: step 4, result 0: f32 = [16384]
// DEEPSPEED-ONE-A: step 5, result 0: f32 = [8192]
// DEEPSPEED-ONE-A: step 6, result 0: f32 = [8192]
// DEEPSPEED-ONE-A: step 7, result 0: f32 = [8192]
// DEEPSPEED-ONE-A: step 8, result 0: f32 = [8192]
// DEEPSPEED-ONE-A: step 9, result 0: f32 = [16384]
// DEEPSPEED-ONE-A: step 10, result 0: f32 = [16384]
// DEEPSPEED-ONE-A: step 11, result 0: f32 = [16384]
func.func @deepspeed_one_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 1, refill = on_growth, counter = late, beyond = infinity, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=deepspeed_a --steps=12 --input=f32:65536.0 --input=i32:0 --input=i32:2 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=DEEPSPEED-A
// DEEPSPEED-A: step 0, result 0: f32 = [65536]
// DEEPSPEED-A: step 0, result 2: i32 = [1]
// DEEPSPEED-A: step 1, result 0: f32 = [32768]
// DEEPSPEED-A: step 1, result 2: i32 = [1]
// DEEPSPEED-A: step 2, result 0: f32 = [32768]
// DEEPSPEED-A: step 2, result 2: i32 = [1]
// DEEPSPEED-A: step 3, result 0: f32 = [32768]
// DEEPSPEED-A: step 3, result 2: i32 = [1]
// DEEPSPEED-A: step 4, result 0: f32 = [32768]
// DEEPSPEED-A: step 4, result 2: i32 = [1]
// DEEPSPEED-A: step 5, result 0: f32 = [16384]
// DEEPSPEED-A: step 5, result 2: i32 = [1]
// DEEPSPEED-A: step 6, result 0: f32 = [16384]
// DEEPSPEED-A: step 6, result 2: i32 = [1]
// DEEPSPEED-A: step 7, result 0: f32 = [16384]
// DEEPSPEED-A: step 7, result 2: i32 = [1]
// DEEPSPEED-A: step 8, result 0: f32 = [16384]
// DEEPSPEED-A: step 8, result 2: i32 = [1]
// DEEPSPEED-A: step 9, result 0: f32 = [32768]
// DEEPSPEED-A: step 9, result 2: i32 = [2]
// DEEPSPEED-A: step 10, result 0: f32 = [32768]
// DEEPSPEED-A: step 10, result 2: i32 = [2]
// DEEPSPEED-A: step 11, result 0: f32 = [32768]
// DEEPSPEED-A: step 11, result 2: i32 = [2]
func.func @deepspeed_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 2, refill = on_growth, counter = late, beyond = infinity, min = 1.0>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=deepspeed_consecutive_a --steps=12 --input=f32:65536.0 --input=i32:0 --input=i32:2 '--input=batches:12xi1=[1 1 0 0 0 1 0 0 0 0 0 0]' | FileCheck %s --check-prefix=DEEPSPEED-CONSECUTIVE-A
// DEEPSPEED-CONSECUTIVE-A: step 0, result 0: f32 = [65536]
// DEEPSPEED-CONSECUTIVE-A: step 0, result 2: i32 = [1]
// DEEPSPEED-CONSECUTIVE-A: step 1, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 1, result 2: i32 = [1]
// DEEPSPEED-CONSECUTIVE-A: step 2, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 2, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 3, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 3, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 4, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 4, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 5, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 5, result 2: i32 = [1]
// DEEPSPEED-CONSECUTIVE-A: step 6, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 6, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 7, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 7, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 8, result 0: f32 = [32768]
// DEEPSPEED-CONSECUTIVE-A: step 8, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 9, result 0: f32 = [65536]
// DEEPSPEED-CONSECUTIVE-A: step 9, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 10, result 0: f32 = [65536]
// DEEPSPEED-CONSECUTIVE-A: step 10, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-A: step 11, result 0: f32 = [65536]
// DEEPSPEED-CONSECUTIVE-A: step 11, result 2: i32 = [2]
func.func @deepspeed_consecutive_a(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 3, hysteresis = 2, refill = on_clean, counter = late, beyond = infinity, min = 1.0>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=apex_hysteresis_b --steps=11 --input=f32:1024.0 --input=i32:0 --input=i32:3 '--input=batches:11xi1=[1 1 1 0 1 1 0 0 0 1 0]' | FileCheck %s --check-prefix=APEX-HYSTERESIS-B
// APEX-HYSTERESIS-B: step 0, result 0: f32 = [1024]
// APEX-HYSTERESIS-B: step 0, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 0, result 2: i32 = [2]
// APEX-HYSTERESIS-B: step 1, result 0: f32 = [1024]
// APEX-HYSTERESIS-B: step 1, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 1, result 2: i32 = [1]
// APEX-HYSTERESIS-B: step 2, result 0: f32 = [512]
// APEX-HYSTERESIS-B: step 2, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 2, result 2: i32 = [0]
// APEX-HYSTERESIS-B: step 3, result 0: f32 = [512]
// APEX-HYSTERESIS-B: step 3, result 1: i32 = [1]
// APEX-HYSTERESIS-B: step 3, result 2: i32 = [3]
// APEX-HYSTERESIS-B: step 4, result 0: f32 = [512]
// APEX-HYSTERESIS-B: step 4, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 4, result 2: i32 = [2]
// APEX-HYSTERESIS-B: step 5, result 0: f32 = [512]
// APEX-HYSTERESIS-B: step 5, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 5, result 2: i32 = [1]
// APEX-HYSTERESIS-B: step 6, result 0: f32 = [512]
// APEX-HYSTERESIS-B: step 6, result 1: i32 = [1]
// APEX-HYSTERESIS-B: step 6, result 2: i32 = [3]
// APEX-HYSTERESIS-B: step 7, result 0: f32 = [1024]
// APEX-HYSTERESIS-B: step 7, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 7, result 2: i32 = [3]
// APEX-HYSTERESIS-B: step 8, result 0: f32 = [1024]
// APEX-HYSTERESIS-B: step 8, result 1: i32 = [1]
// APEX-HYSTERESIS-B: step 8, result 2: i32 = [3]
// APEX-HYSTERESIS-B: step 9, result 0: f32 = [1024]
// APEX-HYSTERESIS-B: step 9, result 1: i32 = [0]
// APEX-HYSTERESIS-B: step 9, result 2: i32 = [2]
// APEX-HYSTERESIS-B: step 10, result 0: f32 = [1024]
// APEX-HYSTERESIS-B: step 10, result 1: i32 = [1]
// APEX-HYSTERESIS-B: step 10, result 2: i32 = [3]
func.func @apex_hysteresis_b(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 2, hysteresis = 3, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=megatron_b --steps=11 --input=f32:1024.0 --input=i32:0 --input=i32:3 '--input=batches:11xi1=[1 1 1 0 1 1 0 0 0 1 0]' | FileCheck %s --check-prefix=MEGATRON-B
// MEGATRON-B: step 0, result 0: f32 = [1024]
// MEGATRON-B: step 0, result 1: i32 = [0]
// MEGATRON-B: step 0, result 2: i32 = [2]
// MEGATRON-B: step 1, result 0: f32 = [1024]
// MEGATRON-B: step 1, result 1: i32 = [0]
// MEGATRON-B: step 1, result 2: i32 = [1]
// MEGATRON-B: step 2, result 0: f32 = [512]
// MEGATRON-B: step 2, result 1: i32 = [0]
// MEGATRON-B: step 2, result 2: i32 = [0]
// MEGATRON-B: step 3, result 0: f32 = [512]
// MEGATRON-B: step 3, result 1: i32 = [1]
// MEGATRON-B: step 3, result 2: i32 = [0]
// MEGATRON-B: step 4, result 0: f32 = [256]
// MEGATRON-B: step 4, result 1: i32 = [0]
// MEGATRON-B: step 4, result 2: i32 = [-1]
// MEGATRON-B: step 5, result 0: f32 = [128]
// MEGATRON-B: step 5, result 1: i32 = [0]
// MEGATRON-B: step 5, result 2: i32 = [-2]
// MEGATRON-B: step 6, result 0: f32 = [128]
// MEGATRON-B: step 6, result 1: i32 = [1]
// MEGATRON-B: step 6, result 2: i32 = [-2]
// MEGATRON-B: step 7, result 0: f32 = [256]
// MEGATRON-B: step 7, result 1: i32 = [0]
// MEGATRON-B: step 7, result 2: i32 = [3]
// MEGATRON-B: step 8, result 0: f32 = [256]
// MEGATRON-B: step 8, result 1: i32 = [1]
// MEGATRON-B: step 8, result 2: i32 = [3]
// MEGATRON-B: step 9, result 0: f32 = [256]
// MEGATRON-B: step 9, result 1: i32 = [0]
// MEGATRON-B: step 9, result 2: i32 = [2]
// MEGATRON-B: step 10, result 0: f32 = [256]
// MEGATRON-B: step 10, result 1: i32 = [1]
// MEGATRON-B: step 10, result 2: i32 = [2]
func.func @megatron_b(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 2, hysteresis = 3, refill = on_growth, counter = exact, beyond = infinity, min = 1.0>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=deepspeed_b --steps=11 --input=f32:1024.0 --input=i32:0 --input=i32:3 '--input=batches:11xi1=[1 1 1 0 1 1 0 0 0 1 0]' | FileCheck %s --check-prefix=DEEPSPEED-B
// DEEPSPEED-B: step 0, result 0: f32 = [1024]
// DEEPSPEED-B: step 0, result 2: i32 = [2]
// DEEPSPEED-B: step 1, result 0: f32 = [1024]
// DEEPSPEED-B: step 1, result 2: i32 = [1]
// DEEPSPEED-B: step 2, result 0: f32 = [512]
// DEEPSPEED-B: step 2, result 2: i32 = [1]
// DEEPSPEED-B: step 3, result 0: f32 = [512]
// DEEPSPEED-B: step 3, result 2: i32 = [1]
// DEEPSPEED-B: step 4, result 0: f32 = [256]
// DEEPSPEED-B: step 4, result 2: i32 = [1]
// DEEPSPEED-B: step 5, result 0: f32 = [128]
// DEEPSPEED-B: step 5, result 2: i32 = [1]
// DEEPSPEED-B: step 6, result 0: f32 = [128]
// DEEPSPEED-B: step 6, result 2: i32 = [1]
// DEEPSPEED-B: step 7, result 0: f32 = [128]
// DEEPSPEED-B: step 7, result 2: i32 = [1]
// DEEPSPEED-B: step 8, result 0: f32 = [256]
// DEEPSPEED-B: step 8, result 2: i32 = [3]
// DEEPSPEED-B: step 9, result 0: f32 = [256]
// DEEPSPEED-B: step 9, result 2: i32 = [2]
// DEEPSPEED-B: step 10, result 0: f32 = [256]
// DEEPSPEED-B: step 10, result 2: i32 = [2]
func.func @deepspeed_b(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 2, hysteresis = 3, refill = on_growth, counter = late, beyond = infinity, min = 1.0>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=deepspeed_consecutive_b --steps=11 --input=f32:1024.0 --input=i32:0 --input=i32:3 '--input=batches:11xi1=[1 1 1 0 1 1 0 0 0 1 0]' | FileCheck %s --check-prefix=DEEPSPEED-CONSECUTIVE-B
// DEEPSPEED-CONSECUTIVE-B: step 0, result 0: f32 = [1024]
// DEEPSPEED-CONSECUTIVE-B: step 0, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-B: step 1, result 0: f32 = [1024]
// DEEPSPEED-CONSECUTIVE-B: step 1, result 2: i32 = [1]
// DEEPSPEED-CONSECUTIVE-B: step 2, result 0: f32 = [512]
// DEEPSPEED-CONSECUTIVE-B: step 2, result 2: i32 = [1]
// DEEPSPEED-CONSECUTIVE-B: step 3, result 0: f32 = [512]
// DEEPSPEED-CONSECUTIVE-B: step 3, result 2: i32 = [3]
// DEEPSPEED-CONSECUTIVE-B: step 4, result 0: f32 = [512]
// DEEPSPEED-CONSECUTIVE-B: step 4, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-B: step 5, result 0: f32 = [512]
// DEEPSPEED-CONSECUTIVE-B: step 5, result 2: i32 = [1]
// DEEPSPEED-CONSECUTIVE-B: step 6, result 0: f32 = [512]
// DEEPSPEED-CONSECUTIVE-B: step 6, result 2: i32 = [3]
// DEEPSPEED-CONSECUTIVE-B: step 7, result 0: f32 = [512]
// DEEPSPEED-CONSECUTIVE-B: step 7, result 2: i32 = [3]
// DEEPSPEED-CONSECUTIVE-B: step 8, result 0: f32 = [1024]
// DEEPSPEED-CONSECUTIVE-B: step 8, result 2: i32 = [3]
// DEEPSPEED-CONSECUTIVE-B: step 9, result 0: f32 = [1024]
// DEEPSPEED-CONSECUTIVE-B: step 9, result 2: i32 = [2]
// DEEPSPEED-CONSECUTIVE-B: step 10, result 0: f32 = [1024]
// DEEPSPEED-CONSECUTIVE-B: step 10, result 2: i32 = [3]
func.func @deepspeed_consecutive_b(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %left: tensor<i32> {mp.state = 2 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:3 = mp.update_loss_scale %scale, %clean, %left on %inf by <growth = 2.0, backoff = 0.5, interval = 2, hysteresis = 3, refill = on_clean, counter = late, beyond = infinity, min = 1.0>
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=largest_torch --steps=1 --input=f32:1.7014118346046923e+38 --input=i32:0 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=LARGEST-TORCH
// LARGEST-TORCH: result 0: f32 = [1.70141183e+38]
// LARGEST-TORCH: result 1: i32 = [0]
func.func @largest_torch(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 1, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=largest_jmp --steps=1 --input=f32:1.7014118346046923e+38 --input=i32:0 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=LARGEST-JMP
// LARGEST-JMP: result 0: f32 = [1.70141183e+38]
// LARGEST-JMP: result 1: i32 = [0]
func.func @largest_jmp(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 1, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=largest_tf --steps=1 --input=f32:1.7014118346046923e+38 --input=i32:0 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=LARGEST-TF
// LARGEST-TF: result 0: f32 = [1.70141183e+38]
// LARGEST-TF: result 1: i32 = [0]
func.func @largest_tf(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 1, hysteresis = 1, refill = on_clean, counter = at_least, beyond = keep, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=beyond_keras --steps=1 --input=f32:1.7014118346046923e+38 --input=i32:0 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=BEYOND-KERAS
// BEYOND-KERAS: result 0: f32 = [inf]
// BEYOND-KERAS: result 1: i32 = [0]
func.func @beyond_keras(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 1, hysteresis = 1, refill = on_clean, counter = at_least, beyond = infinity>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=beyond_megatron --steps=1 --input=f32:1.7014118346046923e+38 --input=i32:0 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=BEYOND-MEGATRON
// BEYOND-MEGATRON: result 0: f32 = [inf]
// BEYOND-MEGATRON: result 1: i32 = [0]
func.func @beyond_megatron(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 1, hysteresis = 1, refill = on_growth, counter = exact, beyond = infinity, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=smallest_torch --steps=1 --input=f32:1.401298464324817e-45 --input=i32:0 '--input=batches:1xi1=[1]' | FileCheck %s --check-prefix=SMALLEST-TORCH
// SMALLEST-TORCH: result 0: f32 = [0]
// SMALLEST-TORCH: result 1: i32 = [0]
func.func @smallest_torch(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=factors --steps=6 --input=f32:1000.0 --input=i32:0 '--input=batches:6xi1=[0 0 1 0 1 1]' | FileCheck %s --check-prefix=FACTORS
// FACTORS: step 0, result 0: f32 = [1500]
// FACTORS: step 1, result 0: f32 = [2250]
// FACTORS: step 2, result 0: f32 = [1687.5]
// FACTORS: step 3, result 0: f32 = [2531.25]
// FACTORS: step 4, result 0: f32 = [1898.4375]
// FACTORS: step 5, result 0: f32 = [1423.82812]
func.func @factors(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 1.5, backoff = 0.75, interval = 1, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=one_rounding --steps=3 --input=f32:65536.0 --input=i32:0 '--input=batches:3xi1=[0 0 1]' | FileCheck %s --check-prefix=ONE-ROUNDING
// ONE-ROUNDING: step 0, result 2: i32 = [1200409805]
// ONE-ROUNDING: step 1, result 2: i32 = [1201332552]
// ONE-ROUNDING: step 2, result 2: i32 = [1200317530]
func.func @one_rounding(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 1.1, backoff = 0.9, interval = 1, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  %b = arith.bitcast %0#0 : tensor<f32> to tensor<i32>
  return %0#0, %0#1, %b : tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: mp-run %s --entry=passed_interval_torch --steps=1 --input=f32:65536.0 --input=i32:50 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=PASSED-INTERVAL-TORCH
// PASSED-INTERVAL-TORCH: result 0: f32 = [65536]
// PASSED-INTERVAL-TORCH: result 1: i32 = [51]
func.func @passed_interval_torch(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 20, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// RUN: mp-run %s --entry=passed_interval_tf --steps=1 --input=f32:65536.0 --input=i32:50 '--input=batches:1xi1=[0]' | FileCheck %s --check-prefix=PASSED-INTERVAL-TF
// PASSED-INTERVAL-TF: result 0: f32 = [131072]
// PASSED-INTERVAL-TF: result 1: i32 = [0]
func.func @passed_interval_tf(%scale: tensor<f32> {mp.state = 0 : i64}, %clean: tensor<i32> {mp.state = 1 : i64}, %flag: tensor<1xi1>) -> (tensor<f32>, tensor<i32>) {
  %inf = tensor.collapse_shape %flag [] : tensor<1xi1> into tensor<i1>
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 20, hysteresis = 1, refill = on_clean, counter = at_least, beyond = keep, min = 1.0>
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

