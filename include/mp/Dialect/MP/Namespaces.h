// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the plain C++ rooms inside mlir::mp, so that `numerics::Format` needs no qualifier
// there. The rooms themselves are namespaces of `mpcore`, which knows nothing of MLIR.

#ifndef MP_DIALECT_MP_NAMESPACES_H
#define MP_DIALECT_MP_NAMESPACES_H

namespace mpcore {
namespace assignment {}
namespace domains {}
namespace emulator {}
namespace numerics {}
namespace policy {}
namespace runtime {}
namespace support {}
namespace target {}
} // namespace mpcore

namespace mlir::mp {
namespace assignment = mpcore::assignment;
namespace domains = mpcore::domains;
namespace emulator = mpcore::emulator;
namespace numerics = mpcore::numerics;
namespace policy = mpcore::policy;
namespace runtime = mpcore::runtime;
namespace support = mpcore::support;
namespace target = mpcore::target;
} // namespace mlir::mp

#endif // MP_DIALECT_MP_NAMESPACES_H
