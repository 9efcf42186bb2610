// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses modules and functions; ParserVariables.cpp parses variables, ParserBody.cpp bodies.

#include "Parser.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::syntax;
using llvm::StringRef;
using llvm::Twine;

bool Parser::fail(const Twine &message) {
  if (error.empty()) {
    error = message.str();
    errorLine = tok.line;
  }
  return false;
}

bool Parser::expected(const Twine &what) {
  return fail("expected " + what + ", found " +
              (tok.kind == Token::End ? Twine("end of file") : "'" + tok.text + "'"));
}

bool Parser::accept(char c) {
  if (!tok.is(c))
    return false;
  advance();
  return true;
}

bool Parser::expect(char c) { return accept(c) || expected("'" + Twine(c) + "'"); }

bool Parser::acceptDirective(StringRef name) {
  if (tok.kind != Token::Directive || tok.text.drop_front() != name)
    return false;
  advance();
  return true;
}

bool Parser::integer(uint64_t &value) {
  if (tok.kind != Token::Integer)
    return expected("an integer");
  value = tok.bits;
  advance();
  return true;
}

bool Parser::word(StringRef &text) {
  if (tok.kind != Token::Word)
    return expected("a name");
  text = tok.text;
  advance();
  return true;
}

void Parser::skipLine() {
  unsigned line = tok.line;
  while (tok.kind != Token::End && tok.line == line)
    advance();
}

bool Parser::skipSection() {
  while (tok.kind != Token::End && !tok.is('{'))
    advance();
  while (tok.kind != Token::End && !tok.is('}'))
    advance();
  return expect('}');
}

bool Parser::run() {
  while (tok.kind != Token::End)
    if (!topLevel())
      return false;
  if (module.version.empty())
    return fail("no .version directive: this is not a PTX module");
  return true;
}

bool Parser::topLevel() {
  if (accept(';'))
    return true;
  if (tok.kind != Token::Directive)
    return expected("a directive");
  if (acceptDirective("version")) {
    module.version = tok.text;
    advance();
    return true;
  }
  if (acceptDirective("target")) {
    if (!word(module.target))
      return false;
    StringRef option;
    while (accept(','))
      if (!word(option))
        return false;
    return true;
  }
  if (acceptDirective("address_size")) {
    uint64_t size;
    if (!integer(size))
      return false;
    module.addressSize = size;
    return size == 64 || fail(".address_size " + Twine(size) + " is not supported: only 64");
  }
  if (tok.text == ".file" || tok.text == ".loc") {
    skipLine();
    return true;
  }
  if (acceptDirective("section"))
    return skipSection();
  if (acceptDirective("pragma")) {
    advance();
    return expect(';');
  }
  bool isExtern = false;
  for (;;) {
    if (acceptDirective("extern"))
      isExtern = true;
    else if (!acceptDirective("visible") && !acceptDirective("weak") && !acceptDirective("common"))
      break;
  }
  if (acceptDirective("entry"))
    return function(/*isEntry=*/true);
  if (acceptDirective("func"))
    return function(/*isEntry=*/false);
  if (acceptDirective("global"))
    return variable(Space::Global, isExtern, module.variables, nullptr);
  if (acceptDirective("const"))
    return variable(Space::Const, isExtern, module.variables, nullptr);
  if (acceptDirective("shared"))
    return variable(Space::Shared, isExtern, module.variables, nullptr);
  return fail("unknown directive '" + tok.text + "'");
}

bool Parser::parameterList(Function &function, llvm::SmallVectorImpl<unsigned> &list) {
  if (accept(')'))
    return true;
  do {
    if (!acceptDirective("param"))
      return expected("'.param'");
    // variable() ends at ';'; parameters end at ',' or ')', so parse one by hand.
    Variable v;
    v.space = Space::Param;
    v.line = tok.line;
    while (tok.kind == Token::Directive) {
      unsigned align;
      if (acceptDirective("align")) {
        if (!alignment(align))
          return false;
        if (v.align == 0 && v.type == Type::None)
          v.align = align;
      } else if (auto type = parseType(tok.text.drop_front())) {
        v.type = *type;
        advance();
      } else if (tok.text == ".ptr" || tok.text == ".global" || tok.text == ".shared" ||
                 tok.text == ".const" || tok.text == ".local") {
        advance();
      } else {
        return fail("unknown word '" + tok.text + "' in a parameter");
      }
    }
    if (v.type == Type::None)
      return expected("a parameter type");
    if (!word(v.name))
      return false;
    while (accept('[')) {
      uint64_t extent = 0;
      if (!tok.is(']') && !integer(extent))
        return false;
      if (!expect(']'))
        return false;
      v.isArray = true;
      if (extent > 1u << 16)
        extent = (1u << 16) + 1;
      v.count = std::min<uint64_t>(v.count * extent, (1u << 16) + 1);
    }
    if (v.bytes() > 1u << 16)
      return fail("parameter '" + v.name + "' is larger than 64 KiB");
    list.push_back(function.variables.size());
    function.variables.push_back(v);
    if (!define(function, v.name, {Symbol::Var, list.back()}))
      return false;
  } while (accept(','));
  return expect(')');
}

bool Parser::performanceDirectives(Function &function) {
  while (tok.kind == Token::Directive) {
    StringRef name = tok.text.drop_front();
    if (name == "pragma") {
      advance();
      advance();
      if (!expect(';'))
        return false;
      continue;
    }
    if (name == "noreturn") {
      function.isNoReturn = true;
      advance();
      continue;
    }
    if (name == "explicitcluster" || name == "blocksareclusters") {
      advance();
      continue;
    }
    llvm::SmallVector<unsigned, 3> ignored;
    llvm::SmallVectorImpl<unsigned> *values = &ignored;
    if (name == "maxntid")
      values = &function.maxntid;
    else if (name == "reqntid")
      values = &function.reqntid;
    else if (name == "reqnctapercluster")
      values = &function.cluster;
    else if (name != "minnctapersm" && name != "maxnreg" && name != "maxnctapersm" &&
             name != "maxclusterrank" && name != "abi_preserve" && name != "abi_preserve_control")
      return fail("unknown directive '" + tok.text + "' of function '" + function.name + "'");
    advance();
    do {
      uint64_t value;
      if (!integer(value))
        return false;
      values->push_back(value);
    } while (accept(','));
    if (values != &ignored)
      values->resize(3, 1);
  }
  return true;
}

bool Parser::function(bool isEntry) {
  Function f;
  f.isEntry = isEntry;
  f.line = tok.line;
  f.scopes.emplace_back();
  scope = 0;
  if (acceptDirective("attribute")) {
    while (tok.kind != Token::End && !accept(')'))
      advance();
  }
  if (!isEntry && accept('(') && !parameterList(f, f.returns))
    return false;
  if (!word(f.name))
    return false;
  if (accept('(') && !parameterList(f, f.params))
    return false;
  if (!performanceDirectives(f))
    return false;
  if (accept(';')) {
    f.isDeclaration = true;
  } else {
    if (!expect('{') || !body(f))
      return false;
  }
  // A definition replaces an earlier declaration of the same name.
  for (Function &other : module.functions)
    if (other.name == f.name) {
      if (f.isDeclaration)
        return true;
      if (!other.isDeclaration)
        return fail("function '" + f.name + "' is defined twice");
      other = std::move(f);
      return true;
    }
  module.functions.push_back(std::move(f));
  return true;
}

llvm::Expected<std::unique_ptr<syntax::Module>>
mpcore::emulator::syntax::parseModule(StringRef text, StringRef file) {
  auto module = std::make_unique<syntax::Module>();
  module->file = file.str();
  module->source = text.str();
  Parser parser(*module);
  if (!parser.run())
    return parser.takeError();
  return module;
}
