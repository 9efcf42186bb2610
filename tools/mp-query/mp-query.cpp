// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers questions on a module, given on the command line or typed: upstream's query language with
// mp's matchers, and counts.

#include "Dialects.h"
#include "Matchers.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Query/Query.h"
#include "mlir/Query/QuerySession.h"
#include "mp/Analysis/Locations.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Version.h"
#include "mp/ToolSupport/Driver.h"
#include "mp/ToolSupport/InputCheck.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/LineEditor/LineEditor.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

#include <map>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::support;
using llvm::createStringError;

static constexpr llvm::StringLiteral kHelp =
    R"(mp-query: questions on a module

usage: mp-query FILE.mlir [-c QUERY ...]

  mp-query model.mlir -c count
  mp-query narrow.mlir -c 'count allOf(contraction(), hasFormat("bf16"))'
  mp-query model.mlir -c 'match reads("layer1.up")'

Options:
  -c QUERY              asks, in order; without it queries are read from standard input, a line each
  --help, --version

Queries:
  count                 ops by class: how many, and which
  count MATCHER         how many ops match
  match MATCHER         a line for each; MATCHER.extract("f") prints them as a function
  help, quit

Matchers:
  contraction()         contractions, which Tensor Cores compute
  opClass("W")          ops of a class, as in docs/reference/OpClasses.md
  named("layer1.up")    ops of a layer
  at("model.py:12")     ops of a line
  hasFormat("bf16")     ops with an operand or a result of that element type
  reads("layer1.up")    ops that read what a layer or an argument of that name makes
  readBy("layer1.up")   ops that make what a layer of that name reads
  hasOpName("linalg.matmul"), hasOpAttrName("mp.pin"), isConstantOp()
  allOf(A, B, ...), anyOf(A, B, ...)

Exit status: 0 all queries were answered, 1 one was not, 2 wrong usage or input.
)";

/// Ops of functions, without the bodies of structured ops.
static void forEachOp(Operation *module, llvm::function_ref<void(Operation *)> visit) {
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || isa<ModuleOp, FunctionOpInterface>(op))
      return WalkResult::advance();
    visit(op);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
}

static void countByClass(Operation *module) {
  std::map<std::string, llvm::MapVector<StringRef, int64_t>> classes;
  forEachOp(module, [&](Operation *op) {
    ++classes[stringifyOpClass(getOpClass(op)).str()][op->getName().getStringRef()];
  });
  for (auto &[name, ops] : classes) {
    int64_t all = 0;
    std::string text;
    for (auto &[op, count] : ops) {
      all += count;
      text += llvm::formatv("{0}{1} {2}", text.empty() ? "" : ", ", op, count);
    }
    llvm::outs() << llvm::formatv("{0,-4} {1,8}  {2}\n", name, all, text);
  }
}

static bool matches(const query::matcher::DynMatcher &matcher, Operation *op) {
  SetVector<Operation *> slice;
  return matcher.match(op) || matcher.match(op, slice);
}

/// A line of an op: where it stands, what it is, its layer, and what it makes.
static void printOp(Operation *op) {
  llvm::outs() << describeLocation(op->getLoc()) << ": " << op->getName();
  SmallVector<std::string> names = namesIn(op->getLoc());
  if (!names.empty())
    llvm::outs() << " \"" << names.front() << "\"";
  llvm::interleaveComma(op->getResultTypes(), llvm::outs() << " : ");
  llvm::outs() << "\n";
}

/// Rewords what upstream says of a wrong query, which fills the type of an argument into its
/// message from memory that is gone, and numbers of arguments in pieces.
static std::string describeWrong(StringRef message) {
  message = message.trim();
  auto [place, said] = message.split(": ");
  if (said.starts_with("Incorrect type for arg"))
    return (place + ": an argument has another type: names stand in double quotes").str();
  if (said.starts_with("Incorrect argument count"))
    return (place + ": expected another number of arguments").str();
  return message.str();
}

/// Answers one query; false if it is none.
static bool answer(StringRef text, query::QuerySession &session) {
  text = text.trim();
  if (text == "count") {
    countByClass(session.getRootOp());
    return true;
  }
  if (text == "help") {
    llvm::outs() << kHelp;
    return true;
  }
  bool counts = text.consume_front("count ");
  std::string upstream = counts ? ("match " + text).str() : text.str();
  query::QueryRef parsed = query::parse(upstream, session);
  std::string problem = takeWrongArgument();
  if (auto *wrong = dyn_cast<query::InvalidQuery>(parsed.get()))
    problem = describeWrong(wrong->errStr);
  if (!problem.empty()) {
    llvm::errs() << "mp-query: " << problem << "; see --help\n";
    return false;
  }
  auto *match = dyn_cast<query::MatchQuery>(parsed.get());
  if (match && !match->matcher.hasFunctionName()) {
    int64_t found = 0;
    forEachOp(session.getRootOp(), [&](Operation *op) {
      if (!matches(match->matcher, op))
        return;
      ++found;
      if (!counts)
        printOp(op);
    });
    llvm::outs() << found << (counts ? "\n" : found == 1 ? " match\n" : " matches\n");
    return true;
  }
  return succeeded(parsed->run(llvm::outs(), session));
}

static llvm::Expected<ExitStatus> run(ToolArguments &given) {
  std::string file;
  std::vector<std::string> queries;
  for (size_t i = 0; i < given.arguments.size(); ++i) {
    StringRef word = given.arguments[i];
    if (word == "--help" || word == "-h" || word == "--version") {
      if (word == "--version")
        printVersion(llvm::outs());
      else
        llvm::outs() << kHelp << commonHelp();
      return ExitStatus::Done;
    }
    if (word == "-c") {
      if (++i == given.arguments.size() || StringRef(given.arguments[i]).trim().empty())
        return createStringError("-c: expected a query behind it, as in -c count; see --help");
      queries.push_back(given.arguments[i]);
    } else if (word.starts_with("-") && word != "-")
      return createStringError("unknown option '" + word + "', expected -c QUERY; see --help");
    else if (!file.empty())
      return createStringError("expected one file, found '" + file + "' and '" + word + "'");
    else
      file = word.str();
  }
  if (file.empty())
    return createStringError("expected a file; see --help");
  DialectRegistry registry;
  registerQueriedDialects(registry);
  MLIRContext context(registry);
  auto text = readFile(file, file);
  if (!text)
    return text.takeError();
  std::optional<BytecodeWatch> watch;
  if (llvm::Error wrong = checkInput(**text, watch))
    return std::move(wrong);
  llvm::SourceMgr sources;
  unsigned buffer = sources.AddNewSourceBuffer(std::move(*text), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return createStringError("'" + file + "' is not a valid MLIR module");
  watch.reset();
  if (llvm::Error wrong = checkModuleSize(*module, given.common))
    return std::move(wrong);

  query::matcher::Registry matchers;
  registerMatchers(matchers);
  query::QuerySession session(*module, sources, buffer, matchers);
  bool answered = true;
  for (StringRef question : queries)
    if (!session.terminate)
      answered &= answer(question, session);
  if (queries.empty()) {
    if (struct stat input; ::fstat(STDIN_FILENO, &input) == 0 && S_ISDIR(input.st_mode))
      return error(ErrorCode::CannotRead, "standard input, which has the queries, is a folder");
    llvm::LineEditor editor("mp-query");
    editor.setListCompleter(
        [&](StringRef line, size_t position) { return query::complete(line, position, session); });
    while (std::optional<std::string> line = editor.readLine()) {
      answered &= answer(*line, session);
      llvm::outs().flush();
      if (session.terminate)
        break;
    }
  }
  return answered ? ExitStatus::Done : ExitStatus::Failed;
}

int main(int argc, char **argv) {
  return runTool("mp-query", argc, argv, [](ToolArguments &given) -> int {
    auto status = run(given);
    if (status)
      return int(*status);
    std::string text = llvm::toString(status.takeError());
    llvm::errs() << "mp-query: error: " << text << "\n";
    return int(statusOf(findCode(text).value_or(ErrorCode::BadInput)));
  });
}
