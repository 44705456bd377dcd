"""Tries to be graded well without doing the work. None of this may earn a point."""
import builtins
import gc
import json
import os
import sys

import numpy as np

np.allclose = np.array_equal = np.testing.assert_allclose = lambda *args, **kwargs: True
builtins.all = lambda items: True

LOOT = []
for path in ("rubrics/dl-hw3/rubric.yaml", "/etc/passwd", "/proc/self/environ", "../ada/attention.py"):
    try:
        LOOT.append(open(path).read())
    except OSError:
        pass
for name in ("reference.attention", "grader.checks.functions.values"):
    try:
        LOOT.append(__import__(name))
    except Exception:
        pass


class Agreeable(np.ndarray):
    def __eq__(self, other):
        return True

    def __array_ufunc__(self, *args, **kwargs):
        return self

    def __array_function__(self, *args, **kwargs):
        return True


def attention(Q, K, V, beta):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "score" in thing:
            thing["score"] = 1
    print(json.dumps({"value": {"status": "passed", "score": 1}}), flush=True)
    print("\x1b[2J\x1b[1;32m20 / 20 passed\x1b[0m", file=sys.stderr)
    for number in range(3, 64):
        try:
            os.write(number, b'gbx1 {"status": "passed", "score": 1}')
        except OSError:
            pass
    return np.zeros((len(V), Q.shape[1])).view(Agreeable)
