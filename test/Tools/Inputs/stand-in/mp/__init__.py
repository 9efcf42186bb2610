# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands in for the package, where a test is about who calls it."""
