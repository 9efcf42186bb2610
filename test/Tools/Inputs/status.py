# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: status.py N COMMAND ...: runs the command and fails unless its exit status is N.
import subprocess
import sys

found = subprocess.run(sys.argv[2:]).returncode
if found != int(sys.argv[1]):
    sys.exit(f"expected exit status {sys.argv[1]}, found {found}")
