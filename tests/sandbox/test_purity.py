"""Code that keeps nothing is told by reading it: what passes cannot remember, and ordinary homework passes."""

from __future__ import annotations

import ast
import textwrap
import zipfile
from pathlib import Path

import pytest
from torch import nn

from grader.sandbox.inside import purity
from grader.sandbox.inside.library_use import mentions
from grader.sandbox.inside.pure_classes import OF_MODULES
from grader.sandbox.inside.purity import library_names, what_it_may_keep

KEEPS_NOTHING = {
    "a function": """
        import numpy as np
        EPS, SHAPE = 1e-9, (2, 3)
        DIM = 8
        SCALE = 1 / np.sqrt(2 * DIM)
        LOW = float("-inf")
        def heads(x, kind=None):
            if kind == "causal":
                x = np.hstack([np.zeros((2, 3), dtype="float32"), np.tril(x).astype(np.float64)])
            return np.einsum("ij,jk->ik", x, x, optimize="greedy"), "zero"
        def softmax(x, axis=0):
            e = np.exp(x - x.max(axis=axis, keepdims=True))
            return e / e.sum(axis=axis, keepdims=True)
        def attention(Q, K, V, beta=1.0, mask=None):
            if mask is not None and mask.shape != (K.shape[1], Q.shape[1]):
                raise ValueError(f"mask is {mask.shape}, not {(K.shape[1], Q.shape[1])}" + " as it should be")
            print("Q: %s, K: %s" % (Q.shape, K.shape), f"{np.max(V):.3f}", "in " + str(len(V)))
            return V @ softmax(beta * K.T @ Q)
    """,
    "a run below": """
        import numpy as np
        def f(Q):
            return np.maximum(Q, 0)
        if __name__ == "__main__":
            import pickle
            pickle.dump([f(np.zeros(3))], open("out", "wb"))
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
                self.last = self.last.view(x.size(0), -1).view(-1).view(x.size(0), x.size(1), self._dim)
                return self.last.masked_fill(self.mask == 0, 0.0)
    """,
    "a data set by chance": """
        import random
        import argparse
        from torch.utils.data import Dataset
        import torch
        def letters(text):
            return list(sorted(list(set(text))))
        class D(Dataset):
            def __init__(self, data, block):
                chars = sorted(set(data))
                self.stoi = {c: i for i, c in enumerate(chars)}
                self.itos, self.letters = {i: c for c, i in self.stoi.items()}, letters(data)
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
MORE = {
    "chance at the top": "import numpy as np\nQ = np.random.randn(3)\ndef f(x):\n    return np.random.rand()",
    "a seed at the top": "import numpy as np\nnp.random.seed(5)\ndef f(x):\n    return np.random.rand()",
    "another branch of a main guard": """
        def f(x):
            if __name__ == "__main__":
                pass
            else:
                global n
                n = 1
    """,
    "an annotation that runs": "import time\nout = ()\ndef f(x, *a: time.time()):\n    return x",
    "an annotation that binds": "def f(x, y: (seen := []) = 0):\n    return seen.append(x)",
    "an annotation of a class": "class A:\n    y: (log := []) = 1\n    def f(self):\n        self.log.append(1)",
    "a class body that sets": "def f(x):\n    class A:\n        f.seen = 1\n    return x",
    "a name of Python's, taken by another": "def unused(globals):\n    pass\ndef f(x):\n    return globals()",
    "Python's names under others": "def tuple():\n    return []\nS = tuple()\ndef f(x):\n    S.append(x)",
    "a function's name for a list": "def S(): pass\nS = []\ndef f(x):\n    S.append(x)\n    return len(S)",
    "a walrus at the top": "(S := [])\ndef f(x):\n    S.append(x)\n    return len(S)",
    "an array called a constant": "import numpy as np\nS = np.sqrt((0.0, 0.0))\ndef f(x):\n    S[0] += 1",
    "a method by a name": "import numpy as np\nf = np.random.default_rng(0).normal",
    "a condition by chance": "import random\nX = 1 if random.random() < 0.5 else 2\ndef f(x):\n    return X",
    "a table of a library's": "from typing import EXCLUDED_ATTRIBUTES as S\ndef f(x):\n    S.append(x)",
    "a table that a library fills": "import copy\ndef f(x, memo={}):\n    return copy.deepcopy(x, memo)",
    "constant bytes": "import torch\nimport numpy as np\ndef f(x):\n    return np.frombuffer(b'12345678')",
    "a class under another name": """
        class C:
            def put(self, v):
                self.v = v
        def f(x):
            K = C
            K.put(f, x)
            return f
    """,
    "the class of a value": "class C:\n    def put(self, v):\n        self.v = v\ndef f(x):\n    type(C()).put(f, 1)",
    "a class made by calling": 'def g(self, x):\n    return x\nf = type("X", (), {"log": [], "__call__": g})()',
    "a class among others": "class C:\n    def put(self, v):\n        self.v = v\ndef f(x):\n    (C,)[0].put(f, x)",
    "a method that Python calls unseen": "class C:\n    __hash__ = lambda self: 7\ndef f(x):\n    return C()",
    "a context that ends elsewhere": """
        import torch
        def f(x):
            n = torch.no_grad()
            with n:
                with n:
                    pass
            return torch.zeros(1, requires_grad=True).sum().requires_grad
    """,
    "a context kept by a generator": "import torch\ndef f(x):\n    with torch.no_grad():\n        yield x",
    "old memory, by a type": "import numpy as np\ndef f(x):\n    return list(map(np.ndarray, [(100,)]))",
    "old memory, left out": "import numpy as np\ndef f(x):\n    return np.exp(x, where=False)",
    "old memory, left out unseen": "import numpy as np\ndef f(x):\n    return np.exp(x, **{'where': False})",
    "old memory of a tensor": "def f(x):\n    return x.new_empty(50)",
    "old memory that is looked at": """
        import torch
        from torch import nn
        class C(nn.Module):
            def __init__(self):
                super().__init__()
                self.C = nn.Parameter(torch.empty(100))
                nn.init.constant_(self.C, self.C[50].item())
    """,
    "the clock of numpy": "import numpy as np\ndef f(x):\n    return np.datetime64('now')",
    "whether two are the same": "def f(x):\n    return x is f",
    "what is caught": "def f(x):\n    try:\n        return 1 / x\n    except ValueError as e:\n        return e.args",
    "all modules, by a text": "def f(x):\n    return '{f.__globals__}'.format_map({'f': f})",
    "text in a message": "def f(x, out):\n    print(out.append(f'{f}'))\n    return out",
    "text made elsewhere": "def f(x):\n    s = '%s'\n    return s % x",
    "addresses in an array": "import numpy as np\ndef f(x):\n    return np.array([f]).tobytes()",
    "an order that addresses make": "def f(x):\n    return list({f, x})",
    "an assertion about text": "def f(x):\n    assert f'{f}' == x",
    "a type of text from elsewhere": "import numpy as np\ndef f(x):\n    return np.array([f]).astype(x.dtype)",
}
# A second reader's. Wherever a function's attribute is set, it stays: a method got another `self` than its instance.
SELVES = {
    "a class, by its own method": """
        class C:
            def put(self, v):
                self.v = v
            @classmethod
            def kind(cls):
                return cls
        def f(x):
            C().kind().put(f, x)
            return f.v
    """,
    "a method of a class above": """
        class B:
            def put(self, v):
                self.v = v
        class C(B):
            @classmethod
            def go(cls, other, v):
                super().put(other, v)
        def f(x):
            C().go(f, x)
            return f.v
    """,
    "a class that Python names": """
        def unused(__class__): pass
        class C:
            def put(self, v):
                self.v = v
            def go(self, other, v):
                __class__.put(other, v)
        def f(x):
            C().go(f, x)
            return f.v
    """,
    "another instance, by the name that a class makes of it": """
        class C:
            def put(__s, other, v):
                _C__s = other
                __s.v = v
        def f(x):
            C().put(f, x)
            return f.v
    """,
    "a method as a default": """
        def put(s, v):
            return v
        class C:
            def put(self, v):
                self.v = v
            def go(self, other, v, how=put):
                how(other, v)
        def f(x):
            C().go(f, x)
            return f.v
    """,
    "a method in a tuple": """
        def put(s, v):
            return v
        class C:
            def put(self, v):
                self.v = v
            ways = (put, 1)
        def f(x):
            C().ways[0](f, x)
            return f.v
    """,
    "Python's imports, named elsewhere": """
        def unused(__import__): pass
        def f(x):
            return __import__("time").time()
    """,
    "Python's names, named elsewhere": """
        def unused(__builtins__): pass
        def f(x):
            __builtins__["seen"] = x
            return x
    """,
    "a library by a name that a class makes another": """
        import torch
        import torch.nn.init as __init
        class Looks:
            def zeros_(self, memory):
                return memory
        class C:
            def old(self, _C__init):
                return __init.zeros_(torch.empty(100))
        def f(x):
            return C().old(Looks())
    """,
}
AT_THE_TOP = {
    "an array made of a tuple's name": """
        import numpy as np
        T = (0.0, 0.0)
        S = np.sqrt(T)
        def f(x):
            S[0] += 1
            return S[0]
    """,
    "an array made of a longer tuple": "import numpy as np\nS = np.sqrt((0.0,) * 2)\ndef f(x):\n    S[0] += 1",
    "an array made of a sum": "import numpy as np\nS = np.float64(1) + (0.0, 0.0)\ndef f(x):\n    S[0] += 1",
    "a list made by a star": "*S, = 0, 0\ndef f(x):\n    S[0] += 1\n    return S[0]",
}
# Text of a function shows where it lies.
MESSAGES = {
    "a message that somebody gets": """
        class K:
            def __getitem__(self, key):
                self.text = key
        def f(x):
            k = K()
            print(k[f"{f}"])
            return k.text
    """,
    "a message that decides": """
        class K:
            n = 0
            def up(self):
                self.n += 1
        def f(x):
            k = K()
            print(f"{f}"[-3] > "7" and k.up())
            return k.n
    """,
    "a message that is added to something": """
        class K:
            def __add__(self, other):
                self.text = other
        def f(x):
            k = K()
            print(k + "%s" % f)
            return k.text
    """,
    "a logger's name for another": """
        import logging
        logger = logging.getLogger(__name__)
        class K:
            def info(self, text):
                self.text = text
        def g(logger):
            logger.info(f"{g}")
        def f(x):
            k = K()
            g(k)
            return k.text
    """,
    "an error made by a function, and passed over": """
        def g(text, kept):
            kept.append(text)
            return IndexError()
        class K:
            def __init__(self, kept):
                self.kept = kept
            def __getitem__(self, i):
                raise g(f"{g}", self.kept)
        def f(x):
            kept = []
            for i in K(kept):
                pass
            return kept
    """,
}
ORDERS = {
    "an order of functions": "def f(x):\n    return sorted(set([f, lambda: 0]), key=lambda g: 0)",
    "an order of numbers that are none": "def f(x):\n    return sorted(set([1.0, float('nan'), 0.0, float('nan')]))",
    "an order of tensors": "import torch\ndef f(x):\n    return sorted(set([torch.tensor(1), torch.tensor(1.0)]))",
    "an order of what another builds it from": """
        class D:
            def __init__(self, data):
                self.letters = sorted(set(data))
        def f(x):
            return D([1.0, float('nan'), 0.0]).letters
    """,
    "an order of what another function gives": """
        def letters(text):
            return sorted(set(text))
        class D:
            def __init__(self, data):
                self.data = letters(data)
        def f(x):
            return letters([1.0, float('nan'), 0.0])
    """,
    "an order of what is under the name of a function at the top": """
        def letters(text):
            return sorted(set(text))
        class D:
            def __init__(self, data):
                self.data = letters(data)
            def order(self, x):
                def letters(text):
                    return sorted(set(text))
                ask = letters
                return ask(x)
    """,
    "keys in a set": "def f(x):\n    return list({f: 0}.keys() | {max: 0}.keys())",
    "items in a set": "def f(x):\n    return list({f: 0}.items() ^ {max: 0}.items())",
    "a set of torch's": """
        from torch import nn
        class C(nn.Module):
            def order(self, functions):
                return list(self._non_persistent_buffers_set.union(functions))
    """,
}
FROM_LIBRARIES = {
    "a number of a hook": "from torch import nn\ndef f(x):\n    return nn.ReLU().register_forward_hook(f).id",
    "a number of a hook of its own": """
        from torch import nn
        class C(nn.Module):
            def count(self):
                return self.register_forward_hook(self.forward).id
    """,
    "a number of a tensor's hook": "def f(x):\n    return x.register_hook(f).id",
    "what is compiled once": """
        from torch import nn
        def made(graph, inputs):
            seen = []
            return lambda *x: seen.append(x) or len(seen)
        def f(x):
            layer = nn.ReLU()
            layer.compile(backend=made)
            return layer(x)
    """,
    "an address of a parameter of its own": """
        from torch import nn
        class P(nn.Parameter):
            def place(self):
                return self.data_ptr()
    """,
    "an address that is only read": "def f(x):\n    return x.const_data_ptr()",
    "old memory by strides": "def f(x):\n    return x.new_empty_strided((50,), (1,))",
    "old memory by another's size": "def f(x):\n    return x.resize_as_(x.new_zeros(50))",
    "old memory of a kind of storage": "def f(x):\n    return x.storage_type()(50)",
    "old memory left out by a method": "def f(x):\n    return x.clip(0, 1, where=False)",
    "old memory left out by a method, unseen": "def f(x):\n    return x.clip(0, 1, **{'where': False})",
    "what a layer says of itself": "from torch import nn\ndef f(x):\n    return nn.Threshold(f, 1).extra_repr()",
    "a form of text, letter by letter": "def f(x):\n    return 'As'.translate({65: 37}) % f",
}
# Old memory, the clock, and texts of functions, which show where these lie: numpy gives them all as arrays.
ARRAYS = {
    "old memory around": "import numpy as np\ndef f(x):\n    return np.pad(x, 50, mode='empty')",
    "old memory, by another name": "import numpy as np\ndef f(x):\n    g = np.exp\n    return g(x, where=False)",
    "old memory between numbers": "import numpy as np\ndef f(x):\n    return (np.longdouble(x) + x).view(np.uint8)",
    "old memory between numbers, by text": """
        import numpy as np
        def f(x):
            return (np.zeros(9, dtype="g") + 1).view(np.uint8)
    """,
    "old memory between fields": """
        import numpy as np
        def f(x):
            return np.array([(1.0,)], {"names": ["x"], "formats": ["f8"], "offsets": [64]}).view(np.uint8)
    """,
    "the clock, by a type": "import numpy as np\ndef f(x):\n    return np.array(['now'], dtype='M8[us]')",
    "the clock, by another type": "import numpy as np\ndef f(x):\n    return np.array(['now']).astype('M8[us]')",
    "the clock, in an array seen so": "def f(x):\n    a = x.view('M8[us]')\n    a[0] = 'now'\n    return a",
    "the clock, by a type of one's own": """
        import numpy as np
        class Q:
            def __init__(self):
                self.dtype = np.promote_types("M8[s]", "M8[s]")
        def f(x):
            return np.full(1, "now", dtype=Q().dtype)
    """,
    "an array of text": """
        import numpy as np
        def f(x):
            a = np.array(["a text that is long enough for what a function is called"])
            a[0] = f
            return a[0]
    """,
    "an array of a type's name": """
        import numpy as np
        def f(x):
            return np.full_like(np.array([x.dtype.name * 10]), f)
    """,
    "an array of a parameter's name": """
        import numpy as np
        from torch import nn
        def f(x):
            a = np.repeat([name for name, _ in nn.Linear(2, 2).named_parameters()], 2)
            a[0] = f
            return a
    """,
    "an array of what a data set is built from": """
        import numpy as np
        class D:
            def __init__(self, data):
                self.data = np.array([data])
            def __getitem__(self, i):
                self.data[0] = self
                return self.data[0]
    """,
    "a type of text by its place": "import numpy as np\ndef f(x):\n    return np.array([f], 'xU60'[1:])",
    "a type of text for another name": "import numpy as np\ndef f(x):\n    g = np.array\n    return g([f], 'xU60'[1:])",
}
# A third reader's. What could not be named was taken for nothing that is kept, and the rest of the file went unread.
WITHOUT_A_NAME = {
    "a kind of an exception": """
        class Oops(Exception):
            pass
        n = 0
        def f(x):
            global n
            n += 1
            return n
    """,
    "a kind of what a function gives": """
        def base():
            return object
        class C(base()):
            pass
        seen = []
        def f(x):
            seen.append(x)
            return len(seen)
    """,
    "an annotation that names nothing": """
        def g(a, b: "C".x = None):
            return a
        seen = []
        def f(x):
            seen.append(x)
            return len(seen)
    """,
}
# What a library calls unseen gets what nobody else is given: weights before they have values, a set of modules.
TAKEN_OVER = {
    "a layer that does not fill its weights": """
        from torch import nn
        class L(nn.Linear):
            def reset_parameters(self):
                nn.init.zeros_(self.bias)
    """,
    "a layer whose other kind does not fill its weights": """
        from torch import nn
        class Leaves:
            def reset_parameters(self):
                pass
        class L(Leaves, nn.Linear):
            pass
    """,
    "a module that sees a parameter before it has values": """
        import torch
        from torch import nn
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.w = nn.Parameter(torch.empty(9))
                nn.init.zeros_(self.w)
            def register_parameter(self, name, value):
                self.before = value.sum().item()
                super().register_parameter(name, value)
    """,
    "the same by its instance": """
        from torch import nn
        class M(nn.Module):
            def __init__(self, see):
                super().__init__()
                self.register_parameter = see
    """,
    "the same by setattr": """
        from torch import nn
        class M(nn.Module):
            def __init__(self, see):
                super().__init__()
                setattr(self, "register_parameter", see)
    """,
    "the same by a name that comes from elsewhere": """
        from torch import nn
        class M(nn.Module):
            def __init__(self, name, see):
                super().__init__()
                setattr(self, name, see)
    """,
    "the same by a class above": """
        from torch import nn
        class Sees:
            def register_parameter(self, name, value):
                self.before = value.sum().item()
        class M(Sees, nn.Module):
            pass
    """,
    "the same by a class below": """
        from torch import nn
        class M(nn.Module):
            pass
        class Sees(M):
            def register_parameter(self, name, value):
                self.before = value.sum().item()
    """,
    "a module that is given a set": """
        from torch import nn
        class M(nn.Module):
            def named_modules(self, memo=None, prefix="", remove_duplicate=True):
                self.order = list(memo.union([lambda: 0, lambda: 1]))
                return []
    """,
    "a dictionary of modules that makes sets": """
        from torch import nn
        class M(nn.ModuleDict):
            def order(self, functions):
                return list(self.keys() | functions)
    """,
    "a table that a library keeps": """
        from einops.layers.torch import Rearrange
        class R(Rearrange):
            def up(self):
                self._multirecipe[0] = 1
    """,
    "an instance of another kind": """
        class C:
            def become(self, kind):
                setattr(self, "__class__", kind)
    """,
}
# Text of a function or an instance shows where it lies, and where it lies depends on what was asked before.
PLACES = {
    "what an instance is called": "class C:\n    def place(self):\n        return super().__repr__()",
    "what an instance is called, for people": "class C:\n    def place(self):\n        return super().__str__()",
    "a form that is searched for": """
        class K:
            def __contains__(self, key):
                self.form = key
        def f(x):
            k = K()
            "%s" in k
            return k.form % f
    """,
    "a form that is searched for after a comparison": """
        class K:
            def __contains__(self, key):
                self.form = key
        def f(x):
            k = K()
            "%s" == "%s" in k
            return k.form % f
    """,
    "a form given by its name": """
        import itertools
        def f(x):
            return list(itertools.zip_longest([0], [], fillvalue="%s"))[0][1] % f
    """,
    "a form that a layer keeps": "from torch import nn\ndef f(x):\n    return nn.ReLU(inplace='%s').inplace % f",
    "a form among bytes": "import numpy as np\ndef f(x):\n    return np.random.RandomState(0).bytes(9)[2:4] % f",
    "a form among Python's bytes": "import random\ndef f(x):\n    return random.Random(0).randbytes(9)[2:4] % f",
    "an array full of text": """
        import numpy as np
        def f(x):
            a = np.full(1, fill_value="as long as what a function is called, and longer")
            a[0] = f
            return a[0]
    """,
    "an array of a key": """
        import numpy as np
        def f(x):
            a = np.array([np.iinfo(np.int32).key * 20])
            a[0] = f
            return a[0]
    """,
    "an array of what the file gives itself": """
        import numpy as np
        import work
        def g(x):
            return "as long as what a function is called, and longer", x
        def f(x):
            a = np.array(work.g(x)[:1])
            a[0] = f
            return a[0]
    """,
    "an array of a type of text of their own": """
        import numpy as np
        class Q:
            def __init__(self):
                self.dtype = "xU70"[1:]
        def f(x):
            a = np.zeros(1, dtype=Q().dtype)
            a[0] = f
            return a[0]
    """,
    "the clock, by a type of their own": """
        import numpy as np
        class Q:
            dtype = "M8[us]"
        def f(x):
            a = np.zeros(1, dtype=Q().dtype)
            a[0] = "now"
            return a.astype(np.int64)
    """,
    "the clock, by a type that is set": """
        import numpy as np
        class Q:
            def __init__(self, name):
                setattr(self, name, "M8[us]")
        def f(x):
            return np.zeros(1, dtype=Q("dtype").dtype)
    """,
    "an array of its own name": """
        import numpy as np
        def f(x):
            a = np.array([__name__ * 20])
            a[0] = f
            return a[0]
    """,
    "an array of names that are given": """
        import numpy as np
        def g(**given):
            a = np.array(list(given))
            a[0] = g
            return a[0]
        def f(x):
            return g(as_long_as_what_a_function_is_called_and_longer=x)
    """,
    "an array of names in a dictionary": """
        import numpy as np
        def f(x):
            a = np.array(list(dict(as_long_as_what_a_function_is_called_and_longer=x)))
            a[0] = f
            return a[0]
    """,
    "an array of what a generator is called": """
        import numpy as np
        def f(x):
            a = np.array([np.random.RandomState(0).get_state()[0] * 9])
            a[0] = f
            return a[0]
    """,
    "an array of text, by another's choice": """
        import numpy as np
        def f(x):
            return np.zeros(1, dtype=int).choose(["as long as what a function is called, and longer"])
    """,
    "an array of text, by a generator's choice": """
        import numpy as np
        def f(x):
            return np.random.default_rng(0).choice(["as long as what a function is called, and longer"], 2)
    """,
    "an array of text, moved": """
        import numpy as np
        def f(x):
            return np.fft.fftshift(["as long as what a function is called, and longer"])
    """,
    "an array of text, to its first power": """
        import numpy as np
        def f(x):
            return np.linalg.matrix_power([["as long as what a function is called, and longer"]], 1)
    """,
    "old memory between sums": "import numpy as np\ndef f(x):\n    return x.cumsum(dtype='g').view(np.uint8)",
    "old memory between sums, turned round": "def f(x):\n    return x.cumsum(dtype='g').byteswap()",
}
OTHERS = {"helper.py": "seen = []\n", "math.py": "n = []\ndef up():\n    n.append(0)\n    return len(n)\n"}
EVERY = {**MAY_KEEP, **MORE, **SELVES, **AT_THE_TOP, **MESSAGES, **ORDERS, **FROM_LIBRARIES, **ARRAYS}
EVERY |= {**WITHOUT_A_NAME, **TAKEN_OVER, **PLACES}


def _read(folder: Path, monkeypatch: pytest.MonkeyPatch, source: str, **others: str) -> str:
    (folder / "work.py").write_text(textwrap.dedent(source))
    for name, text in others.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    purity.forget()  # another version of the same file
    return what_it_may_keep("work.py")


@pytest.mark.parametrize("source", KEEPS_NOTHING.values(), ids=list(KEEPS_NOTHING))
def test_ordinary_code_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    assert _read(tmp_path, monkeypatch, source) == ""


@pytest.mark.parametrize("source", KEEPS_NOTHING.values(), ids=list(KEEPS_NOTHING))
def test_its_names_are_all_that_reading_it_function_by_function_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    _read(tmp_path, monkeypatch, source)
    named = library_names("work.py")
    assert named is not None
    for node in ast.parse(textwrap.dedent(source)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found = mentions("work.py", node.name)
            used = {name for name, _, _ in (*found["taken"], *found["perhaps"]) if not name.startswith("builtins.")}
            assert (used - {*named}, found["lookups"]) == (set(), [])


def test_names_of_other_files_that_are_imported_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = "from helper import g\ndef f(x):\n    return g(x).sum()"
    helper = "from numpy import exp as h\nimport numpy as np\ndef g(x):\n    return h(x) + np.linalg.norm(x)\n"
    assert _read(tmp_path, monkeypatch, work, **{"helper.py": helper}) == ""
    assert library_names("work.py") == ["numpy", "numpy.exp", "numpy.linalg", "numpy.linalg.norm", "sum"]


def test_code_that_may_keep_something_is_not_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _read(tmp_path, monkeypatch, "import numpy as np\nf = vars(np)['e' + 'xp']")
    assert library_names("work.py") is None


@pytest.mark.parametrize("source", EVERY.values(), ids=list(EVERY))
def test_code_that_may_keep_something_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    others = {name: text for name, text in OTHERS.items() if name[:-3] in source}  # any would be refused beside math.py
    assert _read(tmp_path, monkeypatch, source, **others) != ""


# What is not in the file that is asked, and runs all the same.
ELSEWHERE = {
    "a package that is imported with its file": {"__init__.py": "import numpy\nnumpy.exp = list\n"},
    "a library, by another file": {
        "helper.py": "import time\n",
        "work.py": "import helper\ndef f(x):\n    return helper.time",
    },
    "a file that a library imports": {"stringprep.py": "seen = []\n"},
    "a file that a library imports once it needs it": {"sympy.py": "seen = []\n"},
    "a compiled file beside": {"helper.so": "", "work.py": "import helper\ndef f(x):\n    return helper.g(x)"},
    "two files of one name": {
        "helper.py": "",
        "a/helper.py": "",
        "a/work.py": "import helper\ndef f(x):\n    return x",
    },
    "a class of another file": {
        "helper.py": "class C:\n    def put(self, v):\n        self.v = v\n",
        "work.py": "from helper import C\ndef f(x):\n    C.put(f, x)\n    return f.v",
    },
    "a class of another file, by its name": {
        "helper.py": "class C:\n    def put(self, v):\n        self.v = v\n",
        "work.py": "import helper\ndef f(x):\n    helper.C.put(f, x)\n    return f.v",
    },
    "an order of what another file builds it from": {
        "helper.py": "class D:\n    def __init__(self, data):\n        self.data = sorted(set(data))\n",
        "work.py": "from helper import D\ndef f(x):\n    return D([1.0, float('nan'), 0.0]).data",
    },
    "a part of a notebook": {"hw.ipynb#work.py": "{}"},
}


@pytest.mark.parametrize("files", ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_what_runs_with_a_file_is_read_or_it_may_keep_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    (tmp_path / "a").mkdir()
    for name, text in {"work.py": "def f(x):\n    return x", **files}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    asked = next((name for name in files if name.endswith("work.py")), "work.py")
    assert what_it_may_keep(asked) != ""


@pytest.mark.parametrize("kind", ["a folder", "an archive"])
def test_a_file_is_held_against_libraries_wherever_python_looks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    library, home = tmp_path / "libraries.zip", tmp_path / "home"
    home.mkdir()
    if kind == "a folder":
        (library / "helpful").mkdir(parents=True)
        (library / "helpful" / "__init__.py").write_text("")
    else:
        with zipfile.ZipFile(library, "w") as archive:
            archive.writestr("helpful.py", "")
    others = {"helpful.py": "def g(x):\n    return x\n"}
    assert _read(home, monkeypatch, "def f(x):\n    return x", **others) == ""
    monkeypatch.syspath_prepend(str(library))
    assert _read(home, monkeypatch, "def f(x):\n    return x", **others) == "something named helpful"


def test_what_is_taken_from_another_file_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = "from helper import g\nimport helper\ndef f(x):\n    return g(x) + helper.SCALE"
    plain = "SCALE = 2\ndef g(x):\n    return SCALE * x\n"
    assert _read(tmp_path, monkeypatch, work, **{"helper.py": plain}) == ""
    classes = "class C:\n    def __init__(self, x):\n        self.x = x\n"
    asks = "from helper import C\nimport helper\ndef f(x):\n    return C(x).x + helper.C(x).x"
    assert _read(tmp_path, monkeypatch, asks, **{"helper.py": classes}) == ""
    counts = "SCALE = 2\nn = []\ndef g(x):\n    n.append(x)\n    return len(n)\n"
    assert _read(tmp_path, monkeypatch, work, **{"helper.py": counts}) != ""


def test_a_librarys_other_name_has_one_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _read(tmp_path, monkeypatch, "import numpy as np\ndef f(x):\n    return np.exp(x)") == ""
    assert "two meanings" in _read(tmp_path, monkeypatch, "import numpy as np\ndef f(x, np):\n    return np.exp(x)")


def test_of_what_torch_could_call_in_a_module_only_forward_is_the_students() -> None:
    assert {name for name in dir(nn.Module) if not name.startswith("__")} - {"forward"} <= OF_MODULES


@pytest.mark.parametrize("source", ["def f(:", "\0", "x = " + "(" * 5000, "x = " + "-" * 50_000 + "1", ""])
def test_what_cannot_be_read_may_keep_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    assert bool(_read(tmp_path, monkeypatch, source)) is bool(source)
