# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a frontend makes of a model: text of MLIR, and how calls become its arguments and results."""
import dataclasses
import typing

from .errors import Error


def take_positional(args, kwargs):
    """The calling convention of files: one positional argument for each that is not bound."""
    if kwargs:
        raise Error(f"the program takes positional arguments alone, found {', '.join(kwargs)}")
    return list(args)


def give_plain(results):
    """One result as it is, several as a tuple, none as None."""
    return results[0] if len(results) == 1 else tuple(results) if results else None


@dataclasses.dataclass
class Source:
    """A model before the compiler has seen it."""

    text: typing.Union[str, bytes]
    name: str = "model.mlir"
    entry: typing.Optional[str] = None
    imports: bool = True
    #: A pass that runs before everything else; what it gives counts as the original.
    prepare: str = ""
    #: Values that every call passes: place among the arguments -> array.
    bound: typing.Dict[int, typing.Any] = dataclasses.field(default_factory=dict)
    #: Name of each bound value, such as "blocks.0.up.weight".
    names: typing.Dict[int, str] = dataclasses.field(default_factory=dict)
    #: Whose results these are, where the arguments of a call do not say.
    framework: str = "numpy"
    #: Shape (-1: it varies) and name of the dtype of each result, where the framework says them; empty otherwise.
    results: tuple = ()
    #: (args, kwargs) of a call -> values of the arguments that are not bound, in order.
    flatten: typing.Callable = take_positional
    #: Results in order -> what the call gives.
    unflatten: typing.Callable = give_plain
