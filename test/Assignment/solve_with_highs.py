#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solve dumped assignment problems with HiGHS and compare with the answers in the files.

usage: solve_with_highs.py PROBLEM.json ...

Exit status 0: every answer agrees (same optimum where it claims to be proven; otherwise the optimum
lies between its lower bound and its cost). 1: some answer does not. 77: scipy is missing.
"""
import json
import sys

try:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_matrix
except ImportError:
    print("scipy (with numpy) is not installed", file=sys.stderr)
    sys.exit(77)


def solve(problem):
    """Least cost (error, under a cost budget) by mixed-integer programming, or None if infeasible."""
    nodes, values = problem["nodes"], problem["values"]
    if not nodes:
        return 0
    cost, error, integral = [], [], []
    rows, columns, entries, low, high = [], [], [], [], []

    def variable(c, e, is_integer):
        cost.append(c)
        error.append(e)
        integral.append(is_integer)
        return len(cost) - 1

    def constraint(terms, lower, upper):
        for column, entry in terms:
            rows.append(len(low))
            columns.append(column)
            entries.append(entry)
        low.append(lower)
        high.append(upper)

    definition, readers = {}, {}
    picks = []  # per node, the 0/1 variable of each variant
    for node in nodes:
        frequency = node.get("frequency", 1)
        pick = [variable(v["cost"] * frequency, v.get("error", 0), 1) for v in node["variants"]]
        constraint([(x, 1) for x in pick], 1, 1)
        if "pinned" in node:
            constraint([(pick[node["pinned"]], 1)], 1, 1)
        for i, value in enumerate(node["results"]):
            definition[value] = (node, pick, i)
        for i, value in enumerate(node["operands"]):
            readers.setdefault(value, []).append((node, pick, i))
        picks.append(pick)
    for tie in problem["ties"]:
        for member in tie[1:]:
            for x, y in zip(picks[tie[0]], picks[member]):
                constraint([(x, 1), (y, -1)], 0, 0)

    # A cast s -> t of a value is at least (stored as s) + (one reader wants t) - 1.
    for number, value in enumerate(values):
        if value.get("constant", False) or number not in readers:
            continue
        node, pick, index = definition[number]
        for cast in value["casts"]:
            stored = [x for x, v in zip(pick, node["variants"]) if v["out"][index] == cast["from"]]
            if not stored:
                continue
            made = None
            for reader, reader_pick, operand in readers[number]:
                wanting = [x for x, v in zip(reader_pick, reader["variants"])
                           if v["in"][operand] == cast["to"]]
                if not wanting:
                    continue
                if made is None:
                    made = variable(cast["cost"] * node.get("frequency", 1), 0, 0)
                terms = {made: 1}  # a node may read what it defines through a tie: add up
                for x in stored + wanting:
                    terms[x] = terms.get(x, 0) - 1
                constraint(terms.items(), -1, np.inf)

    objective = np.array(cost, float)
    if "error_budget" in problem:
        constraint([(i, e) for i, e in enumerate(error) if e], -np.inf, problem["error_budget"])
    if "cost_budget" in problem:
        constraint([(i, c) for i, c in enumerate(cost) if c], -np.inf, problem["cost_budget"])
        objective = np.array(error, float)
    matrix = coo_matrix((entries, (rows, columns)), shape=(len(low), len(cost))).tocsr()
    result = milp(objective, constraints=LinearConstraint(matrix, low, high),
                  integrality=np.array(integral), bounds=Bounds(0, 1),
                  options={"mip_rel_gap": 0, "time_limit": 60})
    if result.status == 2:
        return None
    if result.status != 0:
        raise RuntimeError(f"HiGHS gave up: {result.message}")
    return round(result.fun)


def main(paths):
    failures = 0
    for path in paths:
        with open(path) as file:
            problem = json.load(file)
        optimum, answer = solve(problem), problem.get("answer")
        if answer is None:
            print(f"{path}: optimum {optimum}")
            continue
        ours = answer["error" if "cost_budget" in problem else "cost"]
        if answer["proven_optimal"]:
            good = optimum == ours
        else:
            good = optimum is not None and answer["lower_bound"] <= optimum <= ours
        claim = "proven" if answer["proven_optimal"] else f"from {answer['lower_bound']}"
        print(f"{path}: HiGHS {optimum}, ours {ours} ({claim}, {answer['method']}):",
              "agree" if good else "DISAGREE")
        failures += not good
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
