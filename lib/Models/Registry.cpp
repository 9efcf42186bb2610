// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of models, and building one from its options.

#include "Elements.h"
#include "ModelList.h"
#include "mlir/IR/Verifier.h"
#include "mp/Models/GraphBuilder.h"

using namespace mlir;
using namespace mlir::mp;

ArrayRef<ModelInfo> mlir::mp::getModels() {
  static const ModelInfo models[] = {mlpModel(),         digitsModel(),   cnnModel(),
                                     resnetBlockModel(), resnet18Model(), resnet50Model(),
                                     bertModel(),        gpt2Model(),     llamaModel(),
                                     vitModel(),         chainModel()};
  return models;
}

static llvm::Error checkVariants(const ModelInfo &model, const ModelOptions &options) {
  bool controlFlow = options.choice("control-flow") != "none";
  if (!model.layered && (controlFlow || options.flag("calls")))
    return llvm::createStringError(model.name + " has no layers, which --" +
                                   (controlFlow ? "control-flow" : "calls") +
                                   " needs; choose another model, such as mlp");
  if (options.choice("train") != "none") {
    for (StringRef other : {"dynamic", "calls"})
      if (options.flag(other))
        return llvm::createStringError("--train and --" + other + " do not go together");
    if (controlFlow)
      return llvm::createStringError("--train and --control-flow do not go together");
  }
  if (options.choice("train") == "none" && options.integer("loss-exponent") != 0)
    return llvm::createStringError("--loss-exponent needs --train");
  if (options.choice("dialect") == "tosa" && options.choice("softmax") == "named")
    return llvm::createStringError("--softmax=named needs --dialect=linalg: TOSA has no softmax");
  return llvm::Error::success();
}

static GraphOptions graphOptions(const ModelOptions &options) {
  GraphOptions graph;
  StringRef weights = options.choice("weights"), flow = options.choice("control-flow");
  if (weights == "resources")
    graph.weights = WeightStorage::Resources;
  else if (weights == "constants")
    graph.weights = WeightStorage::Constants;
  if (options.choice("softmax") == "named")
    graph.softmax = SoftmaxForm::Named;
  graph.controlFlow = llvm::StringSwitch<ControlFlow>(flow)
                          .Case("for", ControlFlow::For)
                          .Case("if", ControlFlow::If)
                          .Case("while", ControlFlow::While)
                          .Case("all", ControlFlow::All)
                          .Default(ControlFlow::None);
  graph.optimizer = llvm::StringSwitch<Optimizer>(options.choice("train"))
                        .Case("sgd", Optimizer::Sgd)
                        .Case("momentum", Optimizer::Momentum)
                        .Case("adam", Optimizer::Adam)
                        .Case("adamw", Optimizer::AdamW)
                        .Case("lamb", Optimizer::Lamb)
                        .Default(Optimizer::None);
  graph.lossExponent = options.integer("loss-exponent");
  // Trained weights come in as arguments and go out as results.
  if (graph.optimizer != Optimizer::None)
    graph.weights = WeightStorage::Arguments;
  graph.calls = options.flag("calls");
  graph.dynamic = options.flag("dynamic");
  graph.roles = options.flag("roles");
  graph.seed = options.integer("seed");
  return graph;
}

llvm::Expected<OwningOpRef<ModuleOp>>
mlir::mp::buildModel(MLIRContext &context, const ModelInfo &model, const ModelOptions &options) {
  if (llvm::Error error = checkVariants(model, options))
    return error;
  context.loadDialect<func::FuncDialect>();
  if (options.flag("roles"))
    context.getOrLoadDialect("mp");
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  GraphOptions wanted = graphOptions(options);
  bool tosa = options.choice("dialect") == "tosa";
  std::unique_ptr<GraphBuilder> graph;
  if (wanted.optimizer != Optimizer::None)
    graph = createTrainingBuilder(tosa, *module, wanted);
  else
    graph = tosa ? createTosaBuilder(*module, wanted) : createLinalgBuilder(*module, wanted);
  if (llvm::Error error = model.build(*graph, options))
    return error;
  if (StringRef elements = options.choice("elements"); elements != "f32")
    setElements(*module, elements == "bf16" ? FloatType(BFloat16Type::get(&context))
                                            : FloatType(Float16Type::get(&context)));
  if (failed(verify(*module)))
    return llvm::createStringError("the module built for " + model.name +
                                   " does not verify; this is a defect of mp-gen");
  return module;
}
