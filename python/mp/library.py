# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C API (include/mp-c/MP.h) by ctypes: the library, and handles with their lifetimes."""
import ctypes
import functools
import json
import os
import threading
import weakref

from .errors import SEVERITIES, Diagnostic, Error

API_VERSION = 1
MAX_RANK = 16
PARSE_IMPORT = PRINT_LOCATIONS = 1
OK, USAGE, REFUSED, NO_MEMORY, INTERNAL = range(5)
FORMS = {"text": 0, "json": 1, "html": 2, "explanation": 3}

_Handle = ctypes.c_void_p
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class CArray(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("data", ctypes.c_void_p), ("element", ctypes.c_char * 16),
                ("rank", ctypes.c_int32), ("sizes", ctypes.c_int64 * MAX_RANK)]


_text, _out, _word, _size = ctypes.POINTER(Text), ctypes.POINTER(_Handle), ctypes.c_char_p, ctypes.c_size_t
_arrays = ctypes.POINTER(CArray)
_tensor = ctypes.c_void_p  # mp_rt_tensor: devices.py has its layout
# Name: result, arguments. Every function of the header that the package calls.
SIGNATURES = {
    "mp_api_version": (ctypes.c_int,),
    "mp_version": (_word,),
    "mp_last_error": (_word,),
    "mp_text_free": (None, _text),
    "mp_context_create": (ctypes.c_int, _out),
    "mp_context_destroy": (None, _Handle),
    "mp_context_set_callback": (ctypes.c_int, _Handle, _Callback, ctypes.c_void_p),
    "mp_module_parse": (ctypes.c_int, _Handle, _word, _size, _word, ctypes.c_uint, _out),
    "mp_module_clone": (ctypes.c_int, _Handle, _out),
    "mp_module_destroy": (None, _Handle),
    "mp_module_print": (ctypes.c_int, _Handle, ctypes.c_uint, _text),
    "mp_module_bytecode": (ctypes.c_int, _Handle, _text),
    "mp_module_run": (ctypes.c_int, _Handle, _word, _word),
    "mp_module_convert": (ctypes.c_int, _Handle, _word, _word, _out),
    "mp_module_check_erasure": (ctypes.c_int, _Handle, _Handle),
    "mp_module_signature": (ctypes.c_int, _Handle, _word, _text),
    "mp_module_image_count": (ctypes.c_int, _Handle, ctypes.POINTER(_size)),
    "mp_module_image": (ctypes.c_int, _Handle, _size, _text, _text),
    "mp_report_print": (ctypes.c_int, _Handle, ctypes.c_int, _text),
    "mp_report_destroy": (None, _Handle),
    "mp_program_compile": (ctypes.c_int, _Handle, _word, _word, _out),
    "mp_program_signature": (ctypes.c_int, _Handle, _text),
    "mp_program_run": (ctypes.c_int, _Handle, _arrays, _size, _arrays, _size),
    "mp_program_call": (ctypes.c_int, _Handle, _tensor, _size, _tensor, _size, ctypes.c_void_p),
    "mp_program_publish": (ctypes.c_int, _Handle, _word),
    "mp_program_destroy": (None, _Handle),
    "mp_array_free": (None, _arrays),
    "mp_xla_host_call": (_Handle, _Handle),
    "mp_xla_device_call": (_Handle, _Handle),
    "mp_describe": (ctypes.c_int, _word, _word, _text),
    "mp_tool_main": (ctypes.c_int, _word, ctypes.c_int, ctypes.POINTER(_word)),
}
# Those of include/mp/Runtime/Device.h.
RUNTIME = {
    "mp_rt_device_error": (_word,),
    "mp_rt_copy_tensor": (ctypes.c_int, _tensor, _tensor),
    "mp_rt_free_tensor": (ctypes.c_int, _tensor, ctypes.c_void_p),
}


def candidates():
    """Where the library is looked for, in order: what MP_LIBRARY names, beside this file, the system."""
    if os.environ.get("MP_LIBRARY"):
        return [os.environ["MP_LIBRARY"]]
    return [os.path.join(os.path.dirname(os.path.abspath(__file__)), "libMP.so.0"), "libMP.so.0"]


@functools.lru_cache(maxsize=None)
def library():
    """The library, loaded at the first use, so that importing mp costs nothing."""
    problems = []
    for path in candidates():
        try:
            loaded = ctypes.CDLL(path)  # RTLD_LOCAL: other copies of LLVM in the process stay apart
            break
        except OSError as error:
            problems.append(str(error))
    else:
        raise Error("the library of mp was not loaded; MP_LIBRARY names it where it is elsewhere:\n  " + "\n  ".join(problems))
    for name, (result, *arguments) in {**SIGNATURES, **RUNTIME}.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    if loaded.mp_api_version() != API_VERSION:
        raise Error(f"the library '{path}' has version {loaded.mp_api_version()} of the C API, expected {API_VERSION}")
    return loaded


def take_text(text, decode=True):
    """The content of a text that the library gave, which is freed."""
    content = ctypes.string_at(text.data, text.size)
    library().mp_text_free(ctypes.byref(text))
    return content.decode() if decode else content


def check(status, diagnostics=()):
    if status == OK:
        return
    message = library().mp_last_error().decode(errors="replace").partition(": ")[2]
    if status == NO_MEMORY:
        raise MemoryError(message)
    raise Error(message, diagnostics)


def check_runtime(status):
    if status != 0:
        raise Error(library().mp_rt_device_error().decode(errors="replace"))


def describe(what, argument=""):
    """Facts that need no model: "targets", "policy" ("format=F target=T"), "error" ("MP302"), "options" (a pipeline)."""
    text = Text()
    check(library().mp_describe(what.encode(), argument.encode(), ctypes.byref(text)))
    return take_text(text)


def version():
    return library().mp_version().decode()


class Owned:
    """Holds a handle, destroyed with the last reference to it. `owners` live at least as long."""

    def __init__(self, handle, destroy, *owners):
        self.handle, self.owners = handle, owners
        self._end = weakref.finalize(self, destroy, handle)
        self._end.atexit = False  # the process frees all of it anyhow


class Context(Owned):
    """A context of the compiler; what is said is kept in `said`. The library lets one thread in at a time, but for calls of compiled
    functions."""

    def __init__(self):
        handle, self.said, self._lock = _Handle(), [], threading.Lock()
        check(library().mp_context_create(ctypes.byref(handle)))
        super().__init__(handle, library().mp_context_destroy)
        listening = weakref.ref(self)

        def hear(user, severity, message, location):
            context = listening()
            if context is not None:
                context.note(SEVERITIES[severity], message.decode(errors="replace"), location.decode(errors="replace"))

        self._callback = _Callback(hear)  # lives as long as who calls it
        check(library().mp_context_set_callback(handle, self._callback, None))

    def note(self, severity, message, location):
        diagnostic = Diagnostic(severity, message, location)
        if severity == "note" and self.said:
            self.said[-1].notes.append(diagnostic)
        else:
            self.said.append(diagnostic)

    def call(self, function, *arguments):
        """Calls a function of the library; what it refuses becomes an Error with what it said."""
        with self._lock:
            before = len(self.said)
            check(function(*arguments), self.said[before:])

    def parse(self, text, name="-", imports=True):
        content, handle = (text.encode() if isinstance(text, str) else text), _Handle()
        self.call(library().mp_module_parse, self.handle, content, len(content), os.fspath(name).encode(),
                  PARSE_IMPORT if imports else 0, ctypes.byref(handle))
        return Module(self, handle)


class Module(Owned):
    """A module of MLIR."""

    def __init__(self, context, handle):
        super().__init__(handle, library().mp_module_destroy, context)
        self.context = context

    def _text(self, function, *arguments, decode=True):
        text = Text()
        self.context.call(function, self.handle, *arguments, ctypes.byref(text))
        return take_text(text, decode)

    def clone(self):
        handle = _Handle()
        self.context.call(library().mp_module_clone, self.handle, ctypes.byref(handle))
        return Module(self.context, handle)

    def print(self, locations=False):
        return self._text(library().mp_module_print, PRINT_LOCATIONS if locations else 0)

    def signature(self, entry=None):
        return json.loads(self._text(library().mp_module_signature, entry and entry.encode()))

    def run(self, pipeline, options=None):
        self.context.call(library().mp_module_run, self.handle, pipeline.encode(), options and json.dumps(options).encode())

    def convert(self, pipeline, options):
        handle = _Handle()
        self.context.call(library().mp_module_convert, self.handle, pipeline.encode(), json.dumps(options).encode(), ctypes.byref(handle))
        return Outcome(self.context, handle)

    def check_erasure(self, original):
        self.context.call(library().mp_module_check_erasure, original.handle, self.handle)

    def images(self):
        """Name and content of each image of kernels, after mp-to-nvvm."""
        count = _size()
        self.context.call(library().mp_module_image_count, self.handle, ctypes.byref(count))
        found = []
        for index in range(count.value):
            name, image = Text(), Text()
            self.context.call(library().mp_module_image, self.handle, index, ctypes.byref(name), ctypes.byref(image))
            found.append((take_text(name), take_text(image, decode=False)))
        return found

    def compile(self, entry, options):
        handle = _Handle()
        self.context.call(library().mp_program_compile, self.handle, entry and entry.encode(), json.dumps(options).encode(), ctypes.byref(handle))
        return Executable(self.context, handle)


class Outcome(Owned):
    """The report of a conversion."""

    def __init__(self, context, handle):
        super().__init__(handle, library().mp_report_destroy, context)
        self.context = context

    def print(self, form):
        text = Text()
        self.context.call(library().mp_report_print, self.handle, FORMS[form], ctypes.byref(text))
        return take_text(text)


class Executable(Owned):
    """A compiled function."""

    def __init__(self, context, handle):
        super().__init__(handle, library().mp_program_destroy, context)
        self.context = context
        text = Text()
        context.call(library().mp_program_signature, handle, ctypes.byref(text))
        self.signature = json.loads(take_text(text))

    def run(self, arguments):
        """Takes and gives HostArrays (arrays.py)."""
        from .arrays import HostArray
        taken = (CArray * len(arguments))(*[array.descriptor() for array in arguments])
        results = (CArray * len(self.signature["results"]))()
        check(library().mp_program_run(self.handle, taken, len(taken), results, len(results)))
        return [HostArray.adopt(result) for result in results]

    def call(self, tensors, places, stream):
        """Takes and gives CTensors (devices.py), results at the places that are asked for."""
        from .devices import CTensor
        taken, results = (CTensor * len(tensors))(*tensors), (CTensor * len(places))()
        for result, place in zip(results, places):
            result.place = place
        check(library().mp_program_call(self.handle, ctypes.addressof(taken), len(taken), ctypes.addressof(results), len(results), stream))
        return [CTensor.from_buffer_copy(result) for result in results]
