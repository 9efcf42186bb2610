# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch's ops are written as before torch-mlir sees them: its own table, and forms of ops that its lowering crashes on or
refuses, as forms that it takes."""
import math


def front_dims(op):
    """The scatter `op` with its dimension counted from the front: on -1 torch-mlir crashes."""
    def decompose(x, dim, *rest, **options):
        return op(x, dim + x.dim(), *rest, **options) if dim < 0 else NotImplemented
    return decompose


def one_index(x, indices):
    """x[i, j, ...] of as many elements as data says, as one look-up in the leading dimensions laid end to end: torch-mlir refuses
    several index tensors whose size is not known. Masks are the indices where they hold: lowering them never ends."""
    import torch
    masked = any(index is not None and index.dtype == torch.bool for index in indices)
    indices = [part for index in indices
               for part in (torch.where(index) if index is not None and index.dtype == torch.bool else (index,))]
    given = [index for index in indices if index is not None]
    if any(index.dtype != torch.int64 or index.dim() != 1 for index in given):
        return NotImplemented
    if masked and len(given) == 1:
        return x.index_select(next(place for place, index in enumerate(indices) if index is not None), given[0])
    if (len(given) < 2 or any(index is None for index in indices[:len(given)])
            or (all(isinstance(index.shape[0], int) for index in given) and not masked)
            or not all(isinstance(size, int) for size in x.shape)):
        return NotImplemented
    place = None
    for index, size in zip(given, x.shape):
        index = torch.where(index < 0, index + size, index)
        place = index if place is None else place * size + index
    return x.reshape(-1, *x.shape[len(given):]).index_select(0, place)


def where_it_holds(x, mask):
    """x.masked_select(mask)"""
    import torch
    x, mask = torch.broadcast_tensors(x, mask)
    return x.reshape(-1).index_select(0, torch.where(mask.reshape(-1))[0])


def diagonal_scatter(x, values, offset=0, dim1=0, dim2=1):
    """x with `values` on a diagonal, as a selection: torch-mlir leaves a literal behind."""
    import torch
    dims = (dim1, dim2)
    rows, columns = (torch.arange(x.shape[dim], device=x.device) for dim in dims)
    if not values.shape[-1]:
        return x.clone()
    along = (rows if offset >= 0 else columns).clamp(max=values.shape[-1] - 1)
    spread = values.index_select(-1, along).unsqueeze(-1 if offset >= 0 else -2)
    on_diagonal = columns - rows.unsqueeze(-1) == offset
    return torch.where(on_diagonal, spread, x.movedim(dims, (-2, -1))).movedim((-2, -1), dims)


def is_dense(x, size, stride, start):
    """Whether as_strided reads all elements of x in their order; None where that is not known."""
    if not all(isinstance(number, int) for number in (*x.shape, *size, *stride, start)) or not x.is_contiguous() or x.storage_offset():
        return None
    following = [math.prod(size[place + 1:]) for place in range(len(size))]
    return x.numel() == math.prod(size) and start == 0 and all(
        count == 1 or step == dense for count, step, dense in zip(size, stride, following))


def strided(x, size, stride, storage_offset=None):
    """as_strided, which is a reshape where it reads all of what lies densely."""
    start = x.storage_offset() if storage_offset is None else storage_offset
    return x.reshape(size) if is_dense(x, size, stride, start) else NotImplemented


def strided_scatter(x, values, size, stride, storage_offset=None):
    """x with `values` where as_strided reads, as gradients of views do, for what lies densely."""
    import torch
    start = x.storage_offset() if storage_offset is None else storage_offset
    dense = is_dense(x, size, stride, start)
    if dense is None:
        return NotImplemented
    if dense:
        return values.reshape(x.shape)
    places = torch.full((), start, dtype=torch.int64, device=x.device)
    for count, step in zip(size, stride):
        places = places.unsqueeze(-1) + torch.arange(count, device=x.device) * step
    return x.reshape(-1).scatter(0, places.reshape(-1), values.reshape(-1)).reshape(x.shape)


def zeros(size, dtype=None, layout=None, device=None, pin_memory=False):
    """What torch.func takes for tangents that are nothing."""
    import torch
    return torch.zeros(size, dtype=dtype, device=device)


def zeros_of_tangent(x, other, self_num_batch_dims=0):
    """The same, with the batch of x."""
    return other.new_zeros((*x.shape[:self_num_batch_dims], *other.shape))


def encoder_layer(x, width, heads, qkv_weight, qkv_bias, out_weight, out_bias, use_gelu, norm_first, eps, scale_1, shift_1, scale_2, shift_2,
                  up_weight, up_bias, down_weight, down_bias, mask=None, mask_type=None):
    """torch.nn.TransformerEncoderLayer without gradients, which is one op of torch."""
    from torch.nn import functional as F
    if mask is not None:
        return NotImplemented
    first, second = (lambda y: F.layer_norm(y, (width,), scale_1, shift_1, eps)), (lambda y: F.layer_norm(y, (width,), scale_2, shift_2, eps))

    def attend(y):
        parts = F.linear(y, qkv_weight, qkv_bias).unflatten(-1, (3, heads, width // heads)).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(parts[0], parts[1], parts[2])
        return F.linear(found.transpose(1, 2).flatten(-2), out_weight, out_bias)

    def feed(y):
        y = F.linear(y, up_weight, up_bias)
        return F.linear(F.gelu(y) if use_gelu else F.relu(y), down_weight, down_bias)

    if norm_first:
        x = x + attend(first(x))
        return x + feed(second(x))
    x = first(x + attend(x))
    return second(x + feed(x))


def merged(x, size):
    """x.view(size) that lays sizes which vary end to end, as collapses: torch-mlir takes all but one of those for 1."""
    import torch
    from torch.fx.experimental.symbolic_shapes import statically_known_true as is_known
    if sum(not isinstance(extent, int) for extent in x.shape) < 2:
        return NotImplemented
    given = x
    for place, wanted in enumerate(size):
        last, extent = place, x.shape[place] if place < x.dim() else 0
        while not is_known(extent == wanted) and last + 1 < x.dim():
            last += 1
            extent = extent * x.shape[last]
        if not is_known(extent == wanted):
            break
        x = torch.ops.prims.collapse(x, place, last) if last > place else x
    else:
        if x.dim() == len(size) and x is not given:
            return x
    return NotImplemented if x is given else x.view(size)  # what remains is split


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False,
                  padding_idx=None):
    """Sums, means or maxima of rows, a bag from each offset to the next, as scatters. What only gradients read is no more than zeros: ops
    that keep it for them are not written so."""
    import torch
    count = offsets.shape[0] - include_last_offset
    rows, places = weight.index_select(0, indices), torch.arange(indices.shape[0], device=indices.device)
    bag = (places.unsqueeze(-1) >= offsets[:count]).sum(-1) - 1
    counted = torch.ones_like(rows[:, :1])
    if padding_idx is not None and padding_idx >= 0:
        counted = (indices != padding_idx).unsqueeze(-1).to(rows.dtype)
    sizes = rows.new_zeros((count, 1)).index_add(0, bag, counted)
    if mode == 2:
        lowest = torch.where(counted > 0, rows, float("-inf"))
        least = rows.new_full((count, weight.shape[1]), float("-inf"))
        most = least.scatter_reduce(0, bag.unsqueeze(-1).expand(rows.shape), lowest, "amax")
        result = torch.where(sizes > 0, most, 0.0)
    else:
        weights = counted if per_sample_weights is None else counted * per_sample_weights.unsqueeze(-1)
        result = rows.new_zeros((count, weight.shape[1])).index_add(0, bag, rows * weights)
        result = result / sizes.clamp(min=1) if mode == 1 else result
    return result, bag, sizes.squeeze(-1).to(indices.dtype), torch.zeros_like(offsets[:count])


def decomposition_table():
    """For torch.export's run_decompositions and for torch.compile."""
    import torch
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table
    aten, table = torch.ops.aten, dict(get_decomposition_table())
    for op in (aten.scatter.src, aten.scatter.value, aten.scatter_add.default, aten.scatter_reduce.two):
        table[op] = front_dims(op)
    for op in (aten.view.default, aten._unsafe_view.default):
        table[op] = merged
    table[aten.index.Tensor] = one_index
    table[aten.masked_select.default] = where_it_holds
    table[aten.diagonal_scatter.default] = diagonal_scatter
    table[aten.as_strided.default] = strided
    table[aten.as_strided_scatter.default] = strided_scatter
    table[aten._efficientzerotensor.default] = zeros
    table[aten._new_zeros_with_same_feature_meta.default] = zeros_of_tangent
    for op in (aten.embedding_bag.padding_idx, aten._embedding_bag_forward_only.default):
        table[op] = embedding_bag
    table[aten._transformer_encoder_layer_fwd.default] = encoder_layer
    return table
