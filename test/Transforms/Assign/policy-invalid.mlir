// RUN: split-file %s %t
// RUN: not mp-opt %t/in.mlir --mp-assign-precision="policy=%t/op.json" 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not mp-opt %t/in.mlir --mp-mixed-precision="policy=%t/key.json" 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not mp-opt %t/in.mlir --mp-assign-precision="policy=%t/lacks.json" 2>&1 | FileCheck %s --check-prefix=LACKS

// OP: error: mp-assign-precision: rule 'typo' of policy 'typos' selects op 'linalg.matmull', which is not known; did you mean 'linalg.matmul'?
// KEY: key.json:1:18: error: unknown key 'rule'; did you mean 'rules'?
// LACKS: error: mp-assign-precision: option 'target' is 'sm_75': {{.*}}bf16

//--- in.mlir
func.func @nothing() {
  return
}
//--- op.json
{"mp_policy": 1, "name": "typos", "rules": [{"name": "typo", "select": {"op": "linalg.matmull"}, "precision": "wide"}]}
//--- key.json
{"mp_policy": 1, "rule": []}
//--- lacks.json
{"mp_policy": 1, "target": "sm_75"}
