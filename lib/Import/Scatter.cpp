// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scatter: every update element is combined with the element of the original it points to,
// one after the other. Its dimensions are
//
//   updates [batch..., window...]   indices [batch..., depth] or [batch...]   original [...]
//
// Window dimensions lie over the last ones of the original; an index into one of those is the
// window's start. Elements that fall outside are dropped, as StableHLO demands. Where the op has
// StableHLO's own words (index_vector_dim and the lists beside it), these say where dimensions lie.

#include "Forms/LoopText.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir::mp::import;

namespace {
/// Says where dimensions lie: for each of the original the number of the index into it, and the
/// dimension of the updates that counts through its window, or through a batch it shares.
struct ScatterMap {
  SmallVector<std::optional<size_t>> index, window, shared;
  SmallVector<size_t> batch;       ///< dimensions of the updates that count updates
  std::optional<size_t> vectorDim; ///< dimension of the indices that counts those of an update
};
} // namespace

/// Returns how many leading dimensions of the updates count updates. tm_tensor has one;
/// iree_linalg_ext any number, its windows have a dimension per one not indexed.
static size_t batchRank(const StructuredOp &op, size_t depth) {
  size_t updates = op.inputs[0].type.rank(), original = op.outputs[0].type.rank();
  size_t window = original - depth;
  bool several = StringRef(op.name).starts_with("iree_linalg_ext") && updates >= window;
  if (!several)
    return 1;
  size_t batch = updates - window;
  size_t indices = op.inputs[1].type.rank();
  return indices == batch || indices == batch + 1 ? batch : indices - 1;
}

/// Reads the convention above; false where the ranks do not fit.
static bool readConvention(const StructuredOp &op, size_t depth, ScatterMap &map) {
  size_t original = op.outputs[0].type.rank(), updates = op.inputs[0].type.rank(),
         indices = op.inputs[1].type.rank(), batch = batchRank(op, depth);
  size_t window = updates - batch;
  bool depthIsDimension = indices == batch + 1;
  if (window > original || updates < batch || (!depthIsDimension && indices != batch) ||
      (!depthIsDimension && depth != 1))
    return false;
  for (size_t dim = 0; dim < batch; ++dim)
    map.batch.push_back(dim);
  for (size_t i = 0; i < window; ++i)
    map.window[original - window + i] = batch + i;
  if (depthIsDimension)
    map.vectorDim = batch;
  return true;
}

/// Reads StableHLO's numbers, which name every dimension; false where they do not fit.
static bool readNumbers(const StructuredOp &op, ScatterMap &map) {
  auto list = [&](StringRef word) {
    SmallVector<size_t> numbers;
    auto found = op.words.find(word);
    if (found != op.words.end())
      for (StringRef text : found->second)
        if (size_t number; !text.getAsInteger(10, number))
          numbers.push_back(number);
    return numbers;
  };
  SmallVector<size_t> windows = list("update_window_dims"), inserted = list("inserted_window_dims"),
                      batching = list("input_batching_dims"),
                      ofIndices = list("scatter_indices_batching_dims");
  size_t original = op.outputs[0].type.rank(), indices = op.inputs[1].type.rank();
  auto vectorDim = static_cast<size_t>(*op.integer("index_vector_dim"));
  if (vectorDim < indices)
    map.vectorDim = vectorDim;
  for (size_t dim = 0; dim < op.inputs[0].type.rank(); ++dim)
    if (!is_contained(windows, dim))
      map.batch.push_back(dim);
  size_t next = 0;
  for (size_t dim = 0; dim < original; ++dim)
    if (!is_contained(inserted, dim) && !is_contained(batching, dim)) {
      if (next == windows.size() || windows[next] >= op.inputs[0].type.rank())
        return false;
      map.window[dim] = windows[next++];
    }
  if (next != windows.size() || batching.size() != ofIndices.size() ||
      map.batch.size() + map.vectorDim.has_value() != indices)
    return false;
  for (auto [dim, ofIndex] : zip_equal(batching, ofIndices)) {
    size_t place = ofIndex - (map.vectorDim && *map.vectorDim < ofIndex);
    if (dim >= original || place >= map.batch.size())
      return false;
    map.shared[dim] = map.batch[place];
  }
  return true;
}

static std::optional<ScatterMap> readMap(const StructuredOp &op, ArrayRef<std::string> dimensions) {
  size_t original = op.outputs[0].type.rank();
  ScatterMap map;
  for (auto *all : {&map.index, &map.window, &map.shared})
    all->resize(original);
  for (auto [number, text] : enumerate(dimensions)) {
    size_t dim = 0;
    if (StringRef(text).getAsInteger(10, dim) || dim >= original)
      return std::nullopt;
    map.index[dim] = number;
  }
  bool fits = dimensions.size() <= original &&
              (op.integer("index_vector_dim") ? readNumbers(op, map)
                                              : readConvention(op, dimensions.size(), map));
  for (size_t dim = 0; dim < original; ++dim)
    fits &= map.index[dim] || map.window[dim] || map.shared[dim];
  return fits ? std::optional(map) : std::nullopt;
}

namespace {
/// Coordinates in the original, and whether they are inside.
struct Place {
  Values coordinates;
  std::string isInside; ///< empty if they always are
};
} // namespace

/// Writes where the update of this turn goes.
static Place locate(LoopText &text, const ScatterMap &map, const Operand &indices,
                    ArrayRef<std::string> turn, ArrayRef<std::string> limits) {
  Place place;
  for (size_t dim = 0; dim < limits.size(); ++dim) {
    std::optional<size_t> counter = map.window[dim] ? map.window[dim] : map.shared[dim];
    std::string value = counter ? turn[*counter] : "";
    if (map.index[dim]) {
      Values where;
      for (size_t batch : map.batch)
        where.push_back(turn[batch]);
      if (map.vectorDim)
        where.insert(where.begin() + *map.vectorDim, text.index(*map.index[dim]));
      std::string start = text.extract(indices, where);
      if (indices.type.element != "index")
        start =
            text.define("arith.index_cast " + start + " : " + indices.type.element + " to index");
      value =
          value.empty() ? start : text.define("arith.addi " + start + ", " + value + " : index");
      std::string fits = text.define("arith.cmpi ult, " + value + ", " + limits[dim] + " : index");
      place.isInside = place.isInside.empty()
                           ? fits
                           : text.define("arith.andi " + place.isInside + ", " + fits + " : i1");
    }
    place.coordinates.push_back(value);
  }
  if (place.isInside.empty())
    place.isInside = text.define("arith.constant true");
  return place;
}

void mlir::mp::import::translateScatter(Source &source, const StructuredOp &op) {
  size_t at = op.span.begin;
  auto dimensions = op.words.find("dimension_map");
  if (op.inputs.size() != 2 || op.outputs.size() != 1 || op.arguments.size() != 2 ||
      op.yielded.size() != 1 || dimensions == op.words.end())
    return source.error(at, "'" + op.name +
                                "' expects a dimension_map, updates and indices, one "
                                "destination and a body of two arguments; masks are not supported");
  const Operand &updates = op.inputs[0], &indices = op.inputs[1], &original = op.outputs[0];
  std::optional<ScatterMap> map = readMap(op, dimensions->second);
  if (!map)
    return source.error(at, "'" + op.name + "' has updates " + updates.type.text + " and indices " +
                                indices.type.text + " that do not fit " + original.type.text +
                                " by its dimension_map [" + join(dimensions->second, ", ") + "]");

  bool isFloat = original.type.isFloat(), sums = isFloat && accumulates(source, op);
  std::string element = sums ? accumulatorFor(original.type.element).str() : original.type.element;
  LoopText text(source, /*pinned=*/sums && element == "f32");
  bool widened = element != original.type.element;
  SmallVector<Operand> carried = {{text.convert(original.value, original.type, element, false),
                                   original.type.withElement(element)}};
  Operand wideOriginal = carried[0];
  Values bounds = text.sizes(updates), limits = text.sizes(wideOriginal), results;
  std::string head = widened ? text.freshResults(1, results) + " = " : op.results;
  Values turn = text.open(bounds, carried, head);
  Place place = locate(text, *map, indices, turn, limits);

  std::string updated = source.freshValue();
  text.add(updated + " = scf.if " + place.isInside + " -> (" + carried[0].type.text + ") {");
  std::string update = text.convert(text.extract(updates, turn), updates.type, element, true);
  std::string old = text.extract(carried[0], place.coordinates);
  Values combined = text.body(op, {update, old}, widened ? original.type.element : "", element);
  std::string inserted = text.insert(combined[0], carried[0], place.coordinates);
  text.add("scf.yield " + inserted + " : " + carried[0].type.text + " } else { scf.yield " +
           carried[0].value + " : " + carried[0].type.text + " }" +
           (sums && element == "f32" ? " {mp.pin = f32}" : ""));
  text.close({updated});
  if (widened)
    text.add(op.results + "arith.truncf " + results[0] + " : " + wideOriginal.type.text + " to " +
             original.type.text);
  source.replace(op.span, text.take());
}
