// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the sections of a cubin's ELF file.

#include "mp/Cubin/Cubin.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

using namespace mpcore::cubin;
using llvm::StringRef;
using llvm::Twine;
using llvm::object::ELF64LE;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;
using ELFFile = llvm::object::ELFFile<ELF64LE>;

const Function *Cubin::find(StringRef name) const {
  for (const Function &function : functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

/// Attributes of .nv.info sections that are read here, by number.
enum Attribute : uint8_t {
  kMaxThreads = 0x05,            ///< three numbers
  kRequiredThreads = 0x10,       ///< three numbers
  kFrameSize = 0x11,             ///< symbol, bytes
  kMinStackSize = 0x12,          ///< symbol, bytes
  kRegisterCount = 0x2f,         ///< symbol, registers
  kIndirectBranchTargets = 0x34, ///< repeated: address, 0, number of targets, targets
};

/// Calls `onAttribute(number, values)` for each attribute with sized content.
template <class F>
static llvm::Error forAttributes(llvm::ArrayRef<uint8_t> section, StringRef name, F &&onAttribute) {
  while (section.size() >= 4) {
    constexpr uint8_t sized = 4;
    const uint8_t form = section[0], number = section[1];
    const size_t size = form == sized ? section[2] | section[3] << 8 : 0;
    if (section.size() < 4 + size)
      return llvm::createStringError("section " + name + ": attribute " + Twine(number) + " has " +
                                     Twine(size) + " bytes, " + Twine(section.size() - 4) +
                                     " are left");
    llvm::SmallVector<uint32_t, 16> values;
    for (size_t at = 0; at + 4 <= size; at += 4)
      values.push_back(read32le(section.data() + 4 + at));
    if (form == sized)
      onAttribute(Attribute(number), values);
    section = section.drop_front(4 + size);
  }
  return llvm::Error::success();
}

static void readBranchTargets(Function &function, llvm::ArrayRef<uint32_t> values) {
  while (values.size() >= 3 && values.size() - 3 >= values[2]) {
    llvm::ArrayRef<uint32_t> targets = values.slice(3, values[2]);
    function.indirectTargets.push_back({values[0], {targets.begin(), targets.end()}});
    values = values.drop_front(3 + targets.size());
  }
}

static void decodeText(Function &function, llvm::ArrayRef<uint8_t> text, unsigned sm) {
  function.codeBytes = unsigned(text.size());
  for (size_t at = 0; at + 16 <= text.size(); at += 16)
    function.instructions.push_back(
        decode(read64le(text.data() + at), read64le(text.data() + at + 8), uint32_t(at), sm));
}

/// Compute capability from the header's flags: bits 8 to 15 since ABI version 8 (CUDA 13), the
/// lowest 8 before.
static unsigned architectureOf(const ELFFile &elf) {
  const auto &header = elf.getHeader();
  const unsigned flags = header.e_flags;
  return header.e_ident[llvm::ELF::EI_ABIVERSION] >= 8 ? flags >> 8 & 0xff : flags & 0xff;
}

namespace {
/// Collects the facts about each kernel: sections have its name, registers and stacks its symbol.
struct Reader {
  const ELFFile &elf;
  ELFFile::Elf_Shdr_Range sections;
  Cubin cubin = {};
  llvm::StringMap<size_t> index = {};

  Function &function(StringRef name) {
    auto [it, isNew] = index.try_emplace(name, cubin.functions.size());
    if (isNew)
      cubin.functions.emplace_back().name = name.str();
    return cubin.functions[it->second];
  }
  Function *known(StringRef name) {
    auto it = index.find(name);
    return it == index.end() ? nullptr : &cubin.functions[it->second];
  }

  llvm::Error readTexts() {
    for (const auto &section : sections) {
      llvm::Expected<StringRef> name = elf.getSectionName(section);
      if (!name)
        return name.takeError();
      StringRef kernel = *name;
      if (!kernel.consume_front(".text."))
        continue;
      auto content = elf.getSectionContents(section);
      if (!content)
        return content.takeError();
      if (content->size() % 16)
        return llvm::createStringError("section " + *name + " has " + Twine(content->size()) +
                                       " bytes, no multiple of the 16 of an instruction");
      decodeText(function(kernel), *content, cubin.sm);
    }
    return llvm::Error::success();
  }

  llvm::Error readKernelInfo(Function &f, llvm::ArrayRef<uint8_t> content, StringRef section) {
    unsigned most = 0;
    llvm::Error error =
        forAttributes(content, section, [&](Attribute number, llvm::ArrayRef<uint32_t> values) {
          if (number == kRequiredThreads && values.size() >= 3)
            f.threads = values[0] * values[1] * values[2];
          else if (number == kMaxThreads && values.size() >= 3)
            most = values[0] * values[1] * values[2];
          else if (number == kIndirectBranchTargets)
            readBranchTargets(f, values);
        });
    f.threads = f.threads ? f.threads : most;
    return error;
  }

  /// Registers and stacks name symbols by index.
  llvm::Error readCommonInfo(llvm::ArrayRef<uint8_t> content) {
    const ELFFile::Elf_Shdr *table = nullptr;
    for (const auto &section : sections)
      if (section.sh_type == llvm::ELF::SHT_SYMTAB)
        table = &section;
    if (!table)
      return llvm::createStringError(
          "the cubin has no symbol table: which kernel a register count is of "
          "cannot be told");
    auto symbols = elf.symbols(table);
    if (!symbols)
      return symbols.takeError();
    auto names = elf.getStringTableForSymtab(*table, sections);
    if (!names)
      return names.takeError();
    return forAttributes(content, ".nv.info",
                         [&](Attribute number, llvm::ArrayRef<uint32_t> values) {
                           if (values.size() < 2 || values[0] >= symbols->size())
                             return;
                           auto name = (*symbols)[values[0]].getName(*names);
                           if (!name) {
                             llvm::consumeError(name.takeError());
                             return;
                           }
                           Function *f = known(*name);
                           if (f && number == kRegisterCount)
                             f->registers = values[1];
                           else if (f && number == kMinStackSize)
                             f->stackBytes = values[1];
                         });
  }

  llvm::Error readInfo() {
    for (const auto &section : sections) {
      llvm::Expected<StringRef> name = elf.getSectionName(section);
      if (!name)
        return name.takeError();
      StringRef kernel = *name;
      if (kernel.consume_front(".nv.shared.")) {
        // The system's KiB is part of the section from sm_90 on.
        const uint64_t reserved = cubin.sm >= 90 ? 1024 : 0;
        if (Function *f = known(kernel))
          f->sharedBytes =
              unsigned(section.sh_size - std::min<uint64_t>(section.sh_size, reserved));
        continue;
      }
      if (!kernel.consume_front(".nv.info"))
        continue;
      auto content = elf.getSectionContents(section);
      if (!content)
        return content.takeError();
      llvm::Error error = llvm::Error::success();
      if (kernel.empty())
        error = readCommonInfo(*content);
      else if (Function *f = kernel.consume_front(".") ? known(kernel) : nullptr)
        error = readKernelInfo(*f, *content, *name);
      if (error)
        return error;
    }
    return llvm::Error::success();
  }
};
} // namespace

llvm::Expected<Cubin> mpcore::cubin::readCubin(StringRef bytes) {
  if (!bytes.starts_with("\x7f"
                         "ELF"))
    return llvm::createStringError("not a cubin: expected an ELF file");
  auto elf = ELFFile::create(bytes);
  if (!elf)
    return elf.takeError();
  if (elf->getHeader().e_ident[llvm::ELF::EI_CLASS] != llvm::ELF::ELFCLASS64 ||
      elf->getHeader().e_machine != llvm::ELF::EM_CUDA)
    return llvm::createStringError("not a cubin: expected a 64-bit ELF file of machine 190 (CUDA), "
                                   "found machine " +
                                   Twine(unsigned(elf->getHeader().e_machine)));
  auto sections = elf->sections();
  if (!sections)
    return sections.takeError();
  Reader reader{*elf, *sections};
  reader.cubin.sm = architectureOf(*elf);
  if (reader.cubin.sm < 70)
    return llvm::createStringError("the cubin is for sm_" + Twine(reader.cubin.sm) +
                                   ", instructions are known from sm_70 on");
  if (llvm::Error error = reader.readTexts())
    return std::move(error);
  if (llvm::Error error = reader.readInfo())
    return std::move(error);
  return std::move(reader.cubin);
}
