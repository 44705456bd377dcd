"""Code that keeps nothing is told by reading it: what passes cannot remember, and ordinary homework passes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from grader.sandbox.inside.purity import what_it_may_keep

KEEPS_NOTHING = {
    "a function": """
        import numpy as np
        EPS, SHAPE = 1e-9, (2, 3)
        LOW = float("-inf")
        def softmax(x, axis=0):
            e = np.exp(x - x.max(axis=axis, keepdims=True))
            return e / e.sum(axis=axis, keepdims=True)
        def attention(Q, K, V, beta=1.0, mask=None):
            if mask is not None and mask.shape != (K.shape[1], Q.shape[1]):
                raise ValueError(f"mask is {mask.shape}")
            return V @ softmax(beta * K.T @ Q)
    """,
    "a demo below": """
        import numpy as np
        def f(Q):
            return np.maximum(Q, 0)
        Q = np.random.randn(3, 4)
        out = [f(Q) for _ in range(3)]
        print("shape", out[0].shape)
        if __name__ == "__main__":
            import pickle
            pickle.dump(out, open("out", "wb"))
    """,
    "a module": """
        import math
        import torch
        import torch.nn as nn
        from torch.nn import functional as F
        class Block(nn.Module):
            scale: float = 0.5
            def __init__(self, dim, heads=2):
                super().__init__()
                self.heads, self._dim = heads, dim
                self.C = nn.Parameter(torch.empty(1, heads, dim))
                nn.init.xavier_uniform_(self.C)
                self.w = nn.Parameter(torch.empty(dim, dim).uniform_(-0.1, 0.1))
                self.register_buffer("mask", torch.tril(torch.ones(dim, dim)))
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.last = F.softmax(x @ self.w / math.sqrt(self._dim), dim=-1)
                return self.last.masked_fill(self.mask == 0, 0.0)
    """,
    "a data set by chance": """
        import random
        import argparse
        from torch.utils.data import Dataset
        import torch
        class D(Dataset):
            def __init__(self, data, block):
                chars = sorted(set(data))
                self.stoi = {c: i for i, c in enumerate(chars)}
                self.data, self.block = data.split("\\n"), block
            def __getitem__(self, idx):
                n = random.randint(4, self.block)
                return torch.tensor([self.stoi[c] for c in self.data[idx][:n]], dtype=torch.long)
    """,
    "settings as a course gives them": """
        import logging
        logger = logging.getLogger(__name__)
        class Config:
            embd_pdrop = 0.1
            def __init__(self, size, **more):
                self.size = size
                for k, v in more.items():
                    setattr(self, k, v)
                logger.info("size %d", size)
    """,
    "an instance that counts": """
        class Counter:
            def __init__(self):
                self.n = 0
            def __call__(self):
                self.n += 1
                return self.n
        def f(x):
            return x * Counter()()
    """,
}

# Each keeps something from call to call, or learns from outside how often it was called.
MAY_KEEP = {
    "a global name": """
        n = 0
        def f(x):
            global n
            n += 1
            return n
    """,
    "a list of the module": "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)",
    "a dictionary of the module": "kept = {}\ndef f(x):\n    return kept.setdefault(0, x)",
    "an array of the module": """
        import numpy as np
        kept = np.zeros(3)
        def f(x):
            kept[0] += 1
            return kept[0]
    """,
    "an instance of the module": """
        class C:
            def __init__(self):
                self.n = 0
            def up(self):
                self.n += 1
                return self.n
        c = C()
        def f(x):
            return c.up()
    """,
    "a default": "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)",
    "a default of a lambda": "f = lambda x, seen=[]: seen.append(x) or len(seen)",
    "an attribute of the function": "def f(x):\n    f.n = getattr(f, 'n', 0) + 1\n    return f.n",
    "an attribute of a function, by setattr": "def f(x):\n    setattr(f, 'n', 1)\n    return hasattr(f, 'n')",
    "an attribute of a library": "import numpy as np\ndef f(x):\n    np.kept = x\n    return x",
    "a value of a class": """
        class C:
            seen = []
            def f(self, x):
                self.seen.append(x)
                return len(self.seen)
    """,
    "an attribute of a class": """
        class C:
            n = 0
        def f(x):
            C.n += 1
            return C.n
    """,
    "a method called for a class": """
        class C:
            n = 0
            def up(self):
                self.n += 1
                return self.n
        def f(x):
            return C.up(C)
    """,
    "a static method given the class": """
        class C:
            n = 0
            @staticmethod
            def up(self):
                self.n += 1
                return self.n
        def f(x):
            return C().up(C)
    """,
    "another instance under the name of its own": """
        class C:
            n = 0
            def up(self, other):
                self = other
                self.n += 1
                return self.n
        def f(x):
            return C().up(C)
    """,
    "a closure": """
        def make():
            n = 0
            def up(x):
                nonlocal n
                n += 1
                return n
            return up
        f = make()
    """,
    "an iterator": "import itertools\ncounter = itertools.count()\ndef f(x):\n    return next(counter)",
    "a cache": "import functools\n@functools.lru_cache\ndef f(x):\n    return x",
    "a generator of its own": """
        import numpy as np
        rng = np.random.default_rng(0)
        def f(x):
            return rng.normal()
    """,
    "chance from outside": "import numpy as np\ndef f(x):\n    return np.random.default_rng().normal()",
    "seeds from outside": "import random\ndef f(x):\n    random.seed()\n    return random.random()",
    "chance of the machine": "import os\ndef f(x):\n    return os.urandom(1)[0]",
    "the clock": "import time\ndef f(x):\n    return time.time()",
    "memory as it was left": "import numpy as np\ndef f(x):\n    return np.empty(3)",
    "a tensor of memory as it was left": "import torch\ndef f(x):\n    return torch.Tensor(3)",
    "a parameter looked at before it is filled": """
        import torch
        from torch import nn
        class C(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Parameter(torch.empty(3))
                self.b = self.a.sum()
                nn.init.zeros_(self.a)
    """,
    "a place in memory": "def f(x):\n    return id(x)",
    "a place in memory, as text": "def f(x):\n    return str(lambda: 0)",
    "a place in memory, in a text": "def f(x):\n    return f'{lambda: 0}'",
    "a place in memory, by format": "def f(x):\n    return '{}'.format(lambda: 0)",
    "a place in memory, in an array of text": """
        import numpy as np
        def f(x):
            return np.array([lambda: 0]).astype('U')
    """,
    "an address": "def f(x):\n    return x.ctypes.data",
    "the names of a module": "def f(x):\n    globals()['n'] = x\n    return x",
    "the names of a module, by a frame": "def g():\n    yield\ndef f(x):\n    return g().gi_frame.f_globals",
    "a module, by an error": """
        import helper
        def f(x):
            try:
                helper.nothing
            except AttributeError as e:
                return e.obj.seen
    """,
    "a module of a library's": """
        from torch.nn import functional as F
        def f(x):
            return F.torch.set_num_threads(2)
    """,
    "a file": "def f(x):\n    open('kept', 'a').write('x')\n    return len(open('kept').read())",
    "settings": "import numpy as np\ndef f(x):\n    return np.seterr(all='raise')",
    "what is written nowhere": "def f(x):\n    return eval('1')",
    "an unknown library": "import scipy\ndef f(x):\n    return x",
    "a list in another file": "from helper import seen\ndef f(x):\n    seen.append(x)\n    return len(seen)",
    "a list in another file, by its name": """
        import helper
        def f(x):
            helper.seen.append(x)
            return len(helper.seen)
    """,
    "a file with the name of a library": "import math\ndef f(x):\n    return math.up()",
}
OTHERS = {"helper.py": "seen = []\n", "math.py": "n = []\ndef up():\n    n.append(0)\n    return len(n)\n"}


def _read(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, **others: str) -> str:
    (folder / "work.py").write_text(textwrap.dedent(source))
    for name, text in others.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return what_it_may_keep("work.py")


@pytest.mark.parametrize("source", KEEPS_NOTHING.values(), ids=list(KEEPS_NOTHING))
def test_ordinary_code_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    assert _read(tmp_path, monkeypatch, source) == ""


@pytest.mark.parametrize("source", MAY_KEEP.values(), ids=list(MAY_KEEP))
def test_code_that_may_keep_something_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    assert _read(tmp_path, monkeypatch, source, **OTHERS) != ""


def test_what_is_taken_from_another_file_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = "from helper import g\nimport helper\ndef f(x):\n    return g(x) + helper.SCALE"
    plain = "SCALE = 2\ndef g(x):\n    return SCALE * x\n"
    assert _read(tmp_path, monkeypatch, work, **{"helper.py": plain}) == ""
    assert _read(tmp_path, monkeypatch, work, **{"helper.py": f"{plain}shown = [g(1)]\n"}) == ""
    counts = "SCALE = 2\nn = []\ndef g(x):\n    n.append(x)\n    return len(n)\n"
    assert _read(tmp_path, monkeypatch, work, **{"helper.py": counts}) != ""


@pytest.mark.parametrize("source", ["def f(:", "\0", "x = " + "(" * 5000, "x = " + "-" * 50_000 + "1", ""])
def test_what_cannot_be_read_may_keep_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    assert bool(_read(tmp_path, monkeypatch, source)) is bool(source)
