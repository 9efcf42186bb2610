// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the multiply-adds and bytes of problems.

#include "mp/Performance/Problem.h"
#include "mp/Performance/Part.h"

#include <algorithm>

using namespace mpcore::performance;

static double multiplyAddsOf(const MatmulProblem &p) {
  return double(p.batch) * double(p.m) * double(p.n) * double(p.k);
}
/// Causal attention multiplies the lower triangle, aligned at the last query and key.
static double multiplyAddsOf(const AttentionProblem &p) {
  const double all = double(p.queries) * double(p.keys);
  const double seen = !p.causal ? all
                                : all - double(std::min(p.queries, p.keys)) *
                                            double(std::min(p.queries, p.keys)) / 2;
  return 2 * double(p.batch) * double(p.heads) * seen * double(p.headDim);
}
template <class P> static double multiplyAddsOf(const P &) { return 0; }

double MatmulProblem::storedBitsOfA() const {
  const double dense = aBits ? aBits : storageBits(format);
  return sparseA ? dense / 2 + 1 : dense;
}
double MatmulProblem::storedBitsOfB() const { return bBits ? bBits : storageBits(format); }

static double bytesOf(const MatmulProblem &p) {
  const double a = p.storedBitsOfA() / 8, b = p.storedBitsOfB() / 8;
  const double c = storageBits(p.result) / 8.0 + p.epilogueBytes;
  const double batch = double(p.batch), m = double(p.m), n = double(p.n), k = double(p.k);
  return batch * m * k * a + (p.sharedB ? 1 : batch) * k * n * b + batch * m * n * c;
}
static double bytesOf(const MapProblem &p) {
  return double(p.elements) * (p.readBytes + p.writtenBytes);
}
static double bytesOf(const RowProblem &p) {
  return double(p.rows) * double(p.columns) * (p.readBytes + p.writtenBytes) +
         double(p.columns) * p.columnBytes;
}
static double bytesOf(const ColumnReductionProblem &p) {
  return double(p.rows) * double(p.columns) * p.readBytes + double(p.columns) * 4;
}
static double bytesOf(const TransposeProblem &p) {
  return 2.0 * double(p.batch) * double(p.rows) * double(p.columns) * p.bits / 8;
}
static double bytesOf(const AttentionProblem &p) {
  const double element = storageBits(p.format) / 8.0, perRow = double(p.headDim) * element;
  return double(p.batch) * (2 * double(p.heads) * double(p.queries) * perRow +
                            2 * double(p.keyHeads) * double(p.keys) * perRow);
}

double mpcore::performance::multiplyAdds(const Problem &problem) {
  return std::visit([](const auto &p) { return multiplyAddsOf(p); }, problem);
}

double mpcore::performance::minimumBytes(const Problem &problem) {
  return std::visit([](const auto &p) { return bytesOf(p); }, problem);
}
