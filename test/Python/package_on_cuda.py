# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in the memory of CUDA, with the emulated driver (MP_CUDA_DRIVER) in its place: what other packages have there is read
where it lies, and results are lent."""
import unittest

import numpy as np
from package import MODEL, inputs

import mp


class OnCuda(unittest.TestCase):
    class Foreign:
        """As numba's and PyCUDA's arrays, which do not speak DLPack."""

        def __init__(self, array, **more):
            self.__cuda_array_interface__ = {"shape": array.shape, "typestr": "<f4", "data": (array.address, False), "version": 3, **more}

        __cuda_array_interface__ = None

    class Lent:
        """As CuPy's and JAX's arrays."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    @classmethod
    def setUpClass(cls):
        cls.program = mp.convert(MODEL, target="sm_80").to("sm_80", device="cuda")
        cls.host = inputs()
        cls.there = [cls.program.upload(array) for array in cls.host]
        cls.expected = cls.program(*cls.host)

    def test_arrays_are_read_where_they_lie(self):
        from mp import devices
        self.assertLess(np.abs(self.expected - mp.convert(MODEL, target="sm_80")(*self.host)).max(), 2e-2)
        self.assertEqual(self.there[0].__dlpack_device__(), (2, 0))  # kDLCUDA
        for wrap in (self.Foreign, self.Lent):
            found = self.program(*map(wrap, self.there))
            np.testing.assert_array_equal(found.numpy(), self.expected)
            tensor, _ = devices.as_tensor(wrap(self.there[1]), "f32", "cuda", "w")
            self.assertEqual((tensor.data, tensor.place), (self.there[1].address, devices.ON_DEVICE))
            again, _ = devices.as_tensor(self.Lent(found), "f32", "cuda", "y")
            self.assertEqual(again.data, found.address)
        np.testing.assert_array_equal(self.program(self.Foreign(self.there[0]), *self.host[1:]).numpy(), self.expected)

    def test_streams_order_the_call(self):
        x, w, v = self.there
        self.assertEqual(self.program(self.Foreign(x, stream=1), self.Foreign(w, stream=1), v).shape, (4, 2))
        with self.assertRaisesRegex(mp.Error, "ready behind 2 streams, expected one"):
            self.program(self.Foreign(x, stream=1), self.Foreign(w, stream=2), v)

    def test_arrays_that_do_not_fit(self):
        x, w, v = self.there
        for change, error in (({"strides": (4, 16)}, r"strides of \[4, 16\] bytes, expected \[32, 4\]: make it dense"),
                              ({"typestr": "<c8"}, "'<c8' by its __cuda_array_interface__"), ({"typestr": ">f4"}, "'>f4' by its"),
                              ({"typestr": "<f2"}, "element type is f16, expected f32"), ({"mask": x}, "has a mask"),
                              ({"shape": (8, 4)}, "expected 4x8xf32|size 0")):
            with self.assertRaisesRegex(mp.Error, error):
                self.program(self.Foreign(x, **change), w, v)
        with self.assertRaisesRegex(mp.Error, "lies on a GPU, expected on the host"):
            mp.convert(MODEL)(self.Foreign(x), *self.host[1:])


if __name__ == "__main__":
    unittest.main(verbosity=1)
