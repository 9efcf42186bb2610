// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the emulator's counts into modelled times, for people and for programs.

#include "mp/Execution/KernelEstimates.h"
#include "mp/Performance/Doubles.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using performance::Bound;
using performance::MatrixUnit;
using Products = performance::KernelCounts::Products;

static constexpr double kSectorBytes = 32;

void mlir::mp::prepareForEstimates(emulator::LaunchOptions &options, uint64_t sampleBlocks) {
  options.countTouched = true;
  options.sampleBlocks = sampleBlocks;
  if (sampleBlocks) // blocks that did not run leave their results unwritten
    options.checkUninitialized = false;
}

//===----------------------------------------------------------------------===//
// Opcodes of matrix products
//===----------------------------------------------------------------------===//

/// "m16n8k16" as multiply-adds; 0 if it is no shape.
static double volumeOf(StringRef shape) {
  unsigned m, n, k;
  if (!shape.consume_front("m") || shape.consumeInteger(10, m) || !shape.consume_front("n") ||
      shape.consumeInteger(10, n) || !shape.consume_front("k") || shape.consumeInteger(10, k) ||
      !shape.empty())
    return 0;
  return double(m) * n * k;
}

/// The format of PTX's name of a type; empty for what is no type.
static StringRef formatOf(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Cases({"f16", "bf16", "tf32", "f64", "f32"}, type)
      .Case("e4m3", "f8E4M3FN")
      .Case("e5m2", "f8E5M2")
      .Case("e3m2", "f6E3M2FN")
      .Case("e2m3", "f6E2M3FN")
      .Case("e2m1", "f4E2M1FN")
      .Cases({"s8", "u8"}, "i8")
      .Cases({"s4", "u4"}, "i4")
      .Case("b1", "i1")
      .Case("s32", "i32")
      .Default("");
}

bool mlir::mp::isMatrixProduct(StringRef opcode) {
  return opcode.starts_with("mma.") || opcode.starts_with("wmma.mma.") ||
         opcode.starts_with("wgmma.mma_async.");
}

std::optional<Products> mlir::mp::productsOf(StringRef opcode, double executed) {
  SmallVector<StringRef, 12> parts;
  opcode.split(parts, '.');
  double volume = 0;
  bool isSparse = false, isQuadPairs = false;
  SmallVector<StringRef, 4> types; // of D, A, B and mostly C; wmma.mma of f16 has D and C only
  for (StringRef part : parts) {
    isSparse |= part == "sp" || part.starts_with("sp::");
    isQuadPairs |= part == "m8n8k4";
    if (double found = volumeOf(part))
      volume = found;
    else if (StringRef format = formatOf(part); !format.empty())
      types.push_back(format);
  }
  const bool isOfHalves = opcode.starts_with("wmma.mma.") && types.size() == 2;
  if (!isMatrixProduct(opcode) || !volume || (types.size() < 3 && !isOfHalves))
    return std::nullopt;
  StringRef format = isOfHalves ? "f16" : types[1];
  if (isSparse)
    volume /= 2;
  if (isQuadPairs && format == "f16") // a product for each quad pair of the warp
    volume *= 4;
  const bool isWarpgroup = opcode.starts_with("wgmma");
  if (isWarpgroup) // its four warps execute one product together
    volume /= 4;
  return Products{isWarpgroup ? MatrixUnit::Wgmma : MatrixUnit::MmaSync, format.str(),
                  volume * executed};
}

/// Tells whether f64 units execute an opcode: not those that move f64, nor matrix products.
static bool computesInDouble(StringRef opcode) {
  SmallVector<StringRef, 8> parts;
  opcode.split(parts, '.');
  const bool moves = llvm::StringSwitch<bool>(parts.front())
                         .Cases({"ld", "ldu", "st", "mov", "selp", "slct", "atom", "red"}, true)
                         .Default(false);
  return llvm::is_contained(parts, "f64") && !moves && !isMatrixProduct(opcode);
}

performance::KernelCounts mlir::mp::countsOf(const emulator::LaunchStats &stats,
                                             const performance::Part &part) {
  performance::KernelCounts counts;
  counts.blocks = double(stats.blocks);
  counts.threads = stats.threads;
  counts.sharedBytes = stats.sharedBytes;
  counts.warpInstructions = double(stats.warpInstructions);
  counts.sharedWavefronts = double(stats.sharedWavefronts);
  counts.sectors = double(stats.globalSectors);
  counts.uniqueBytes = double(stats.touchedSectors) * kSectorBytes;
  for (const auto &[opcode, executed] : stats.opcodes) {
    if (auto products = productsOf(opcode, double(executed)))
      counts.products.push_back(std::move(*products));
    if (computesInDouble(opcode))
      counts.warpInstructions += double(executed) * (performance::instructionsOfDouble(part) - 1);
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Sums over launches
//===----------------------------------------------------------------------===//

/// Seconds at documented peaks: products, or the bytes that are touched.
static double speedOfLight(const performance::KernelCounts &counts, const performance::Part &part) {
  double products = 0;
  for (const Products &p : counts.products)
    if (double tera = part.peakTera(p.unit, p.format))
      products += 2 * p.multiplyAdds / (tera * 1e12);
  return std::max(products, counts.uniqueBytes / part.memoryBytesPerSecond());
}

/// Lists what the model leaves out of a launch, a sentence each.
static void findLeftOut(const emulator::LaunchRecord &launch, const performance::Part &part,
                        std::vector<std::string> &leftOut) {
  auto add = [&](std::string sentence) {
    if (!llvm::is_contained(leftOut, sentence))
      leftOut.push_back(std::move(sentence));
  };
  for (const auto &[opcode, executed] : launch.stats.opcodes) {
    auto products = productsOf(opcode, double(executed));
    if (isMatrixProduct(opcode) && (!products || !part.peakTera(products->unit, products->format)))
      add(llvm::formatv("{0}: {1} has no rate for {2}, whose products count as issued only",
                        launch.kernel, part.name, opcode));
  }
  const emulator::LaunchStats &stats = launch.stats;
  if (!performance::residentBlocks(*part.specific, stats.threads, 0, stats.sharedBytes))
    add(llvm::formatv("{0}: a block of {1} threads and {2} bytes of shared memory does not fit on "
                      "{3}, and is taken to run alone",
                      launch.kernel, stats.threads, stats.sharedBytes, part.name));
}

Bound KernelEstimate::bound() const {
  return Bound(llvm::max_element(boundSeconds) - boundSeconds.begin());
}

FunctionEstimate mlir::mp::estimateLaunches(ArrayRef<emulator::LaunchRecord> launches,
                                            const performance::Part &part, double minimumBytes) {
  FunctionEstimate function;
  function.part = &part;
  function.minimumBytes = minimumBytes;
  for (const emulator::LaunchRecord &launch : launches) {
    const performance::KernelCounts counts = countsOf(launch.stats, part);
    const performance::Estimate e = performance::estimate(counts, part);
    auto known = llvm::find_if(function.kernels,
                               [&](const KernelEstimate &k) { return k.name == launch.kernel; });
    if (known == function.kernels.end()) {
      function.kernels.emplace_back();
      known = std::prev(function.kernels.end());
      known->name = launch.kernel;
      known->evidence = e.evidence;
    }
    known->launches += 1;
    known->seconds += e.seconds;
    known->boundSeconds[unsigned(e.bound)] += e.seconds;
    known->occupancy += (e.occupancy - known->occupancy) / double(known->launches);
    known->waves += (e.waves - known->waves) / double(known->launches);
    known->bytes += counts.sectors * kSectorBytes;
    known->touchedBytes += counts.uniqueBytes;
    known->speedOfLight += speedOfLight(counts, part);
    function.blocks += launch.stats.blocks;
    function.sampledBlocks += launch.stats.sampledBlocks;
    findLeftOut(launch, part, function.leftOut);
  }
  for (const KernelEstimate &k : function.kernels) {
    function.launches += k.launches;
    function.seconds += k.seconds;
    function.speedOfLight += k.speedOfLight;
    function.bytes += k.bytes;
    function.touchedBytes += k.touchedBytes;
  }
  return function;
}

//===----------------------------------------------------------------------===//
// Text and JSON
//===----------------------------------------------------------------------===//

static std::string ratio(double bytes, double least) {
  return least > 0 ? llvm::formatv("{0:f2}", bytes / least).str() : "-";
}

/// Says what the figures rest on.
static void printBasis(llvm::raw_ostream &os, const FunctionEstimate &f) {
  os << llvm::formatv("modelled for {0} from counts of PTX instructions, never measured",
                      f.part->name);
  if (f.sampledBlocks < f.blocks)
    os << llvm::formatv("; {0} of {1} blocks ran, counts are scaled", f.sampledBlocks, f.blocks);
  os << "\n";
  std::vector<std::string> texts;
  for (const KernelEstimate &k : f.kernels)
    if (!llvm::is_contained(texts, k.evidence.text()))
      texts.push_back(k.evidence.text());
  for (const std::string &text : texts)
    os << "constants of the model: " << text << "\n";
  for (const std::string &sentence : f.leftOut)
    os << "left out: " << sentence << "\n";
}

void mlir::mp::printEstimates(llvm::raw_ostream &os, const FunctionEstimate &f) {
  printBasis(os, f);
  constexpr const char *line = "{0,-32} {1,8} {2,11} {3,7} {4,-13} {5,9} {6,8} {7,9} {8,8} {9,9}\n";
  auto number = [](double value) { return llvm::formatv("{0:f2}", value).str(); };
  os << llvm::formatv(line, "kernel", "launches", "modelled us", "share", "binds", "occupancy",
                      "waves", "MB moved", "/touched", "light us");
  std::vector<const KernelEstimate *> order;
  for (const KernelEstimate &kernel : f.kernels)
    order.push_back(&kernel);
  llvm::stable_sort(order, [](auto *a, auto *b) { return a->seconds > b->seconds; });
  for (const KernelEstimate *k : order)
    os << llvm::formatv(line, k->name, k->launches, number(k->seconds * 1e6),
                        llvm::formatv("{0:P1}", k->seconds / f.seconds).str(), toString(k->bound()),
                        number(k->occupancy), number(k->waves), number(k->bytes * 1e-6),
                        ratio(k->bytes, k->touchedBytes), number(k->speedOfLight * 1e6));
  os << llvm::formatv(line, "all", f.launches, number(f.seconds * 1e6), "", "", "", "",
                      number(f.bytes * 1e-6), ratio(f.bytes, f.touchedBytes),
                      number(f.speedOfLight * 1e6));
  if (f.minimumBytes > 0)
    os << llvm::formatv("arguments, constants and results: {0:f2} MB, {1:f2} us at the bandwidth; "
                        "kernels move {2} times as much\n",
                        f.minimumBytes * 1e-6,
                        f.minimumBytes / f.part->memoryBytesPerSecond() * 1e6,
                        ratio(f.bytes, f.minimumBytes));
}

llvm::json::Object mlir::mp::estimatesToJSON(const FunctionEstimate &f) {
  llvm::json::Array kernels;
  for (const KernelEstimate &k : f.kernels)
    kernels.push_back(llvm::json::Object{{"name", k.name},
                                         {"launches", k.launches},
                                         {"modelled_microseconds", k.seconds * 1e6},
                                         {"bound", toString(k.bound())},
                                         {"occupancy", k.occupancy},
                                         {"waves", k.waves},
                                         {"bytes", k.bytes},
                                         {"touched_bytes", k.touchedBytes},
                                         {"speed_of_light_microseconds", k.speedOfLight * 1e6},
                                         {"evidence", k.evidence.text()}});
  return llvm::json::Object{{"part", f.part->name},
                            {"modelled_microseconds", f.seconds * 1e6},
                            {"speed_of_light_microseconds", f.speedOfLight * 1e6},
                            {"launches", f.launches},
                            {"blocks", f.blocks},
                            {"sampled_blocks", f.sampledBlocks},
                            {"bytes", f.bytes},
                            {"touched_bytes", f.touchedBytes},
                            {"minimum_bytes", f.minimumBytes},
                            {"left_out", llvm::json::Array(f.leftOut)},
                            {"kernels", std::move(kernels)}};
}
