#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds files against a JSON schema:  validate.py SCHEMA FILE...

Prints a line for each place that the schema does not allow, and a count.
"""
import json
import pathlib
import sys

import jsonschema

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.validators.validator_for(schema).check_schema(schema)
validator = jsonschema.validators.validator_for(schema)(schema)
problems = 0
for name in sys.argv[2:]:
    for error in validator.iter_errors(json.loads(pathlib.Path(name).read_text())):
        problems += 1
        print(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
print(f"{len(sys.argv) - 2} files, {problems} problems")
