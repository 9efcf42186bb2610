// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's interfaces on the scaling ops, for compilers that tile and bufferize by them.

#ifndef MP_TRANSFORMS_SCALE_INTERFACES_H
#define MP_TRANSFORMS_SCALE_INTERFACES_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::mp {

/// All scaling ops: linalg::AggregatedOpInterface and BufferizableOpInterface, by what
/// mp-decompose-scaling makes of them; those that work element by element, block by block or loop
/// by loop: TilingInterface and ReifyRankedShapedTypeOpInterface.
void registerScalingInterfaces(DialectRegistry &registry);

/// The part of it about tiles.
void registerScalingTiling(DialectRegistry &registry);

} // namespace mlir::mp

#endif // MP_TRANSFORMS_SCALE_INTERFACES_H
