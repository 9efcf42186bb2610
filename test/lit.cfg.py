# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tells lit how to find and run the tests. Tiers: `quick` for daily use, `core` for CI (adds
# REQUIRES: slow and the gtests named Slow*), `nightly` (adds the sweeps).
import importlib.util
import os
import shutil
import sys

import lit.formats

config.name = config.mp_test_suite
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx"]
config.excludes = ["Inputs", "CMakeLists.txt"]

binary_test_dir = os.path.join(config.mp_binary_dir, "test")
config.test_source_root = config.mp_test_root
config.test_exec_root = os.path.join(binary_test_dir, "Output", config.name)

tier = lit_config.params.get("tier", "quick")
if tier not in ("quick", "core", "nightly"):
    lit_config.fatal(f"tier is '{tier}', expected quick, core or nightly")
config.environment["MP_TIER"] = tier
if config.name == "Unit":
    config.test_format = lit.formats.GoogleTest(".", "Tests")
    config.environment["GTEST_FILTER"] = {"quick": "-*Slow*:*Nightly*", "core": "-*Nightly*", "nightly": "*"}[tier]
if tier != "quick":
    config.available_features.add("slow")
if tier == "nightly":
    config.available_features.add("nightly")

path = [
    os.path.join(config.mp_binary_dir, "bin"),
    os.path.join(binary_test_dir, "bin"),
    config.llvm_tools_dir,
    config.environment["PATH"],
]
config.environment["PATH"] = os.pathsep.join(path)
config.environment["MP_SHARED_DIR"] = config.mp_shared_dir
config.environment["MP_CRASH_DIR"] = os.path.join(binary_test_dir, "Output")
for name in ("HOME", "CUDA_ROOT", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TMPDIR", "NVDISASM", "CUOBJDUMP"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%shared", config.mp_shared_dir))
config.substitutions.append(("%mp_src", config.mp_source_dir))
config.substitutions.append(("%mp_build", config.mp_binary_dir))
config.substitutions.append(("%libmp", os.path.join(config.mp_binary_dir, "lib", "libMP.so")))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%mlir_include", os.path.join(os.path.dirname(config.llvm_tools_dir), "include")))
config.substitutions.append(("%mlir_lib_dir", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")))
config.substitutions.append(("%cmake", config.cmake))
config.substitutions.append(("%cxx", config.cxx_compiler))
config.substitutions.append(("%cc", config.c_compiler))

if os.path.isdir(os.path.join(config.mp_shared_dir, "models")):
    config.available_features.add("shared")
for package in ("numpy", "jsonschema", "scipy", "sklearn", "triton", "optax", "torch", "torch_mlir", "onnx", "jax", "iree", "tensorflow", "tosa_converter_for_tflite"):
    if importlib.util.find_spec(package):
        config.available_features.add(package)
# nvdisasm is no part of every toolkit; Triton's wheel has one, and cuobjdump.
triton = importlib.util.find_spec("triton")
for tool in ("nvdisasm", "cuobjdump"):
    bundled = os.path.join(triton.submodule_search_locations[0], "backends/nvidia/bin", tool) if triton else ""
    found = os.environ.get(tool.upper()) or shutil.which(tool) or (bundled if os.path.exists(bundled) else None)
    if found:
        config.environment[tool.upper()] = found
        config.available_features.add(tool)
# As many processes as a test asks for, whoever runs it; the bindings would leave two cores to all tests.
if shutil.which("mpirun") and os.path.exists(os.path.join(config.mp_binary_dir, "lib", "libMPTransportMPI.so")):
    config.available_features.add("mpirun")
    config.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                              OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                              OMPI_MCA_mpi_yield_when_idle="1")
config.substitutions.append(("%mpirun", "mpirun"))
# Only the night runs what stands behind %nightly, and kernels of all generations; the day runs those without asynchronous
# copies and those with all of them.
config.substitutions.append(("%nightly", "" if tier == "nightly" else ":"))
config.substitutions.append(("%chips", "sm_75 sm_80 sm_89 sm_90a sm_120" if tier == "nightly" else "sm_75 sm_90a"))
if config.mpfr and not config.mpfr.endswith("NOTFOUND"):
    config.available_features.add("mpfr")
for tool in ("ptxas", "nvcc", "chromium", "node", "iree-compile", "valgrind", "z3"):
    if shutil.which(tool):
        config.available_features.add(tool)
