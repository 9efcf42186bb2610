# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch's ops are written as before torch-mlir sees them: its own table, and forms of ops that its lowering crashes on or
refuses, as forms that it takes."""


def front_dims(op):
    """The scatter `op` with its dimension counted from the front: on -1 torch-mlir crashes."""
    def decompose(x, dim, *rest, **options):
        return op(x, dim + x.dim(), *rest, **options) if dim < 0 else NotImplemented
    return decompose


def one_index(x, indices):
    """x[i, j, ...] of as many elements as data says, as one look-up in the leading dimensions laid end to end: torch-mlir refuses
    several index tensors whose size is not known."""
    import torch
    given = [index for index in indices if index is not None]
    if (len(given) < 2 or given != list(indices[:len(given)]) or any(index.dtype != torch.int64 or index.dim() != 1 for index in given)
            or all(isinstance(index.shape[0], int) for index in given) or not all(isinstance(size, int) for size in x.shape)):
        return NotImplemented
    place = None
    for index, size in zip(given, x.shape):
        index = torch.where(index < 0, index + size, index)
        place = index if place is None else place * size + index
    return x.reshape(-1, *x.shape[len(given):]).index_select(0, place)


def decomposition_table():
    """For torch.export's run_decompositions and for torch.compile."""
    import torch
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table
    aten, table = torch.ops.aten, dict(get_decomposition_table())
    for op in (aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_reduce.two):
        table[op] = front_dims(op)
    table[aten.index.Tensor] = one_index
    return table
