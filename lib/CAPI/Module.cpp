// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules of the C API: read, written, checked, looked into.

#include "Handles.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Parser/Parser.h"
#include "mp/Import/Import.h"
#include "mp/Pipelines/Promises.h"
#include "mp/ToolSupport/InputCheck.h"
#include "mp/Transforms/Verify/Erasure.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::capi;

static mp_module *makeModule(std::shared_ptr<Context> context, OwningOpRef<ModuleOp> module) {
  auto handle = std::make_unique<mp_module>();
  handle->context = std::move(context);
  handle->module = std::move(module);
  return handle.release();
}

static Outcome parse(mp_context *context, llvm::MemoryBufferRef given, unsigned flags,
                     mp_module **module) {
  std::unique_ptr<llvm::MemoryBuffer> imported;
  if (!isBytecode(given)) {
    if (llvm::Error error = checkText(given, nestingLimit()))
      return refused(std::move(error));
    if (flags & MP_PARSE_IMPORT) {
      auto text = importText(given);
      if (!text)
        return refused(text.takeError());
      imported = std::move(*text);
    }
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(imported ? imported->getBuffer() : given.getBuffer(),
                                           given.getBufferIdentifier()),
      llvm::SMLoc());
  auto parsed = parseSourceFile<ModuleOp>(sources, ParserConfig(&context->context->mlir));
  if (!parsed)
    return refused(imported ? std::string() : explainLeftovers(given));
  if (isBytecode(given))
    if (llvm::Error error = checkTypes(*parsed))
      return refused(std::move(error));
  *module = makeModule(context->context, std::move(parsed));
  return {};
}

extern "C" {

mp_status mp_module_parse(mp_context *context, const char *text, size_t size, const char *name,
                          unsigned flags, mp_module **module) {
  MP_CHECK_HANDLE(context);
  MP_CHECK_POINTER(text);
  MP_CHECK_POINTER(module);
  if (flags & ~unsigned(MP_PARSE_IMPORT))
    return run(__func__, [&] {
      return usage("flags are " + Twine(flags) + ", expected 0 or MP_PARSE_IMPORT");
    });
  return runWithin(__func__, *context->context, [&] {
    // The lexer wants a zero at the end.
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(StringRef(text, size), name ? name : "-");
    return parse(context, *buffer, flags, module);
  });
}

mp_status mp_module_clone(const mp_module *module, mp_module **copy) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(copy);
  return runWithin(__func__, *module->context, [&] {
    *copy = makeModule(module->context, module->module.get().clone());
    return Outcome();
  });
}

void mp_module_destroy(mp_module *module) {
  if (checkHandle(module, "module").empty())
    delete module;
}

mp_status mp_module_print(const mp_module *module, unsigned flags, mp_text *text) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(text);
  if (flags & ~unsigned(MP_PRINT_LOCATIONS))
    return run(__func__, [&] {
      return usage("flags are " + Twine(flags) + ", expected 0 or MP_PRINT_LOCATIONS");
    });
  return runWithin(__func__, *module->context, [&] {
    std::string printed;
    llvm::raw_string_ostream os(printed);
    OpPrintingFlags printing;
    printing.enableDebugInfo(flags & MP_PRINT_LOCATIONS, /*prettyForm=*/false);
    module->module.get().print(os, printing);
    os << "\n";
    *text = makeText(printed);
    return Outcome();
  });
}

mp_status mp_module_bytecode(const mp_module *module, mp_text *bytes) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(bytes);
  return runWithin(__func__, *module->context, [&] {
    std::string written;
    llvm::raw_string_ostream os(written);
    if (failed(writeBytecodeToFile(module->module.get(), os)))
      return refused("the module cannot be written as bytecode");
    *bytes = makeText(written);
    return Outcome();
  });
}

mp_status mp_module_check_erasure(mp_module *original, mp_module *converted) {
  MP_CHECK_HANDLE(original);
  MP_CHECK_HANDLE(converted);
  if (original->context != converted->context)
    return run(__func__, [] { return usage("original and converted are of different contexts"); });
  return runWithin(__func__, *original->context, [&] {
    if (failed(checkErasure(*original->module, *converted->module)))
      return refused("");
    return Outcome();
  });
}

mp_status mp_module_signature(mp_module *module, const char *entry, mp_text *json) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(json);
  return runWithin(__func__, *module->context, [&] {
    auto function = findEntry(*module->module, entry ? entry : "");
    if (!function)
      return refused(function.takeError());
    auto signature = signatureOf(*function);
    if (!signature)
      return refused(signature.takeError());
    *json = makeText(describeSignature(function->getName(), *signature));
    return Outcome();
  });
}

} // extern "C"

/// Kernels of the module, one image each.
static SmallVector<std::pair<StringRef, gpu::ObjectAttr>> imagesOf(ModuleOp module) {
  SmallVector<std::pair<StringRef, gpu::ObjectAttr>> images;
  module.walk([&](gpu::BinaryOp binary) {
    for (Attribute object : binary.getObjects())
      images.push_back({binary.getName(), cast<gpu::ObjectAttr>(object)});
  });
  return images;
}

static llvm::json::Array describeParameters(ArrayRef<Parameter> parameters) {
  llvm::json::Array rows;
  for (const Parameter &parameter : parameters) {
    llvm::json::Array shape(parameter.shape);
    llvm::json::Object row{
        {"name", parameter.name}, {"element", parameter.type.str()}, {"shape", std::move(shape)}};
    if (!parameter.role.empty())
      row["role"] = parameter.role;
    if (parameter.nextValue)
      row["state"] = *parameter.nextValue;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string capi::describeSignature(StringRef function, const Signature &signature) {
  llvm::json::Value json =
      llvm::json::Object{{"function", function},
                         {"arguments", describeParameters(signature.arguments)},
                         {"results", describeParameters(signature.results)}};
  return llvm::formatv("{0}", json).str();
}

extern "C" {

mp_status mp_module_image_count(mp_module *module, size_t *count) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(count);
  return run(__func__, [&] {
    *count = imagesOf(*module->module).size();
    return Outcome();
  });
}

mp_status mp_module_image(mp_module *module, size_t index, mp_text *name, mp_text *image) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(name);
  MP_CHECK_POINTER(image);
  return run(__func__, [&] {
    auto images = imagesOf(*module->module);
    if (index >= images.size())
      return usage("index is " + Twine(index) + ", but the module has " + Twine(images.size()) +
                   " images; mp-to-nvvm makes them");
    mp_text named = makeText(images[index].first);
    *image = makeText(images[index].second.getObject().getValue());
    *name = named;
    return Outcome();
  });
}

} // extern "C"
