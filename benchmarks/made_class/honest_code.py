"""Code as honest students write it: a handful of standard solutions for each function, in their own order and words."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

Files = dict[str, str]

_NAMES = {
    "scores": ["scores", "S", "s", "logits", "sim", "raw", "att_scores", "z", "energy"],
    "weights": ["A", "weights", "att", "alpha", "probs", "w", "attn", "P"],
    "out": ["H", "out", "output", "result", "res", "heads_out", "ctx"],
    "width": ["d", "d_k", "dk", "head_dim", "size", "width", "dh"],
    "index": ["i", "h", "j", "head", "idx", "k"],
    "part": ["rows", "sl", "part", "block", "piece"],
    "stable": ["shifted", "stable", "m", "e", "z0", "num"],
    "helper": ["softargmax", "softmax", "column_softmax", "_softmax", "sm", "soft"],
    "mlp": ["mlp", "ffn", "ff", "feed_forward", "net", "fc"],
    "n1": ["norm1", "ln1", "ln_1", "first_norm", "n1", "layer_norm1"],
    "n2": ["norm2", "ln2", "ln_2", "second_norm", "n2", "layer_norm2"],
    "attn": ["attn", "attention", "mha", "self_attn", "sa"],
    "proj": ["proj", "projection", "conv", "embed", "to_tokens", "linear"],
    "cls": ["cls", "cls_token", "class_token", "token"],
    "pos": ["pos", "positions", "pos_embed", "position", "pe"],
    "blocks": ["blocks", "layers", "encoder", "encoders", "transformer"],
    "headl": ["head", "classifier", "fc", "out", "mlp_head"],
    "x": ["x", "h", "y", "t"],
}
_COMMENTS = [
    "subtract the maximum so that exp does not overflow", "one column per query", "split into heads", "TODO clean up",
    "mask out what may not be seen", "residual, then norm", "glue the heads together", "shape (B, N, dim)", "see lecture 7",
    "scale by the square root of the head width", "tokens are columns here", "patches row by row", "prepend the class token",
    "normalise over keys", "works for any batch size", "broadcasting does the rest", "checked with the example from class",
]  # fmt: skip


_MODULES = {
    "encoder.py": "EncoderBlock(16, 2, 32)",
    "patches.py": "PatchEmbedding(8, 4, 3, 16)",
    "vit.py": "ViT(8, 4, 3, 16, 2, 2, 10)",
}


class Student:
    """One student's habits."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = {role: self.rng.choice(those) for role, those in _NAMES.items()}
        self.talks = self.rng.random()

    def pick(self, *ways: str) -> str:
        return self.rng.choice(ways)

    def maybe(self, text: str, chance: float = 0.5) -> str:
        return text if self.rng.random() < chance else ""

    def written(self, template: str) -> str:
        """The template in this student's names, with comments where this student writes any."""
        text = template
        for role, name in self.names.items():
            text = text.replace(f"<{role}>", name)
        lines = []
        for line in text.strip("\n").split("\n"):
            if line.strip() and line.startswith("    ") and self.rng.random() < 0.25 * self.talks:
                lines.append(f"{line[: len(line) - len(line.lstrip())]}# {self.rng.choice(_COMMENTS)}")
            lines.append(line)
        return "\n".join(line for line in lines if line.strip() != "DROP") + "\n"

    def shuffled(self, *lines: str) -> str:
        those = [line for line in lines if line]
        self.rng.shuffle(those)
        return "\n".join(those)


def honest_files(seed: int) -> Files:
    student = Student(seed)
    files = {
        "attention.py": _attention(student),
        "multihead.py": _multihead(student),
        "encoder.py": _encoder(student),
        "patches.py": _patches(student),
        "vit.py": _vit(student),
    }
    return {name: text + _trial(student, name) for name, text in files.items()}


def _softmax(s: Student, scale: str) -> str:
    shift = s.pick(
        "    <stable> = <scores> - <scores>.max(axis=0, keepdims=True)\n    <stable> = np.exp(<stable>)",
        "    <stable> = np.exp(<scores> - np.max(<scores>, axis=0))",
        "    top = <scores>.max(axis=0)\n    <stable> = np.exp(<scores> - top[None, :])",
        "    <scores> -= <scores>.max(0, keepdims=True)\n    <stable> = np.exp(<scores>)",
        "    biggest = np.amax(<scores>, axis=0, keepdims=True)\n    <stable> = np.exp(np.subtract(<scores>, biggest))",
    )
    share = s.pick(
        "    <weights> = <stable> / <stable>.sum(axis=0, keepdims=True)",
        "    <weights> = <stable> / np.sum(<stable>, axis=0)",
        "    total = np.sum(<stable>, axis=0, keepdims=True)\n    <weights> = <stable> / total",
        "    <weights> = np.divide(<stable>, <stable>.sum(0))",
    )
    return f"{scale}\n{shift}\n{share}"


def _attention(s: Student) -> str:
    scale = s.pick(
        "    <scores> = beta * (K.T @ Q)",
        "    <scores> = K.T @ Q\n    <scores> = <scores> * beta",
        "    <scores> = beta * np.dot(K.T, Q)",
        "    <scores> = np.matmul(K.transpose(), Q) * beta",
        "    <scores> = np.einsum('dm,dn->mn', K, Q) * beta",
    )
    end = s.pick(
        "    return V @ <weights>", "    <out> = V @ <weights>\n    return <out>", "    return np.dot(V, <weights>)",
        "    <out> = np.matmul(V, <weights>)\n    return <out>",
    )  # fmt: skip
    check = s.maybe("    assert Q.shape[0] == K.shape[0]\n", 0.2) + s.maybe(
        "    Q, K, V = map(np.asarray, (Q, K, V))\n", 0.2
    )
    if s.rng.random() < 0.5:
        inner = _softmax(s, "    DROP").replace("<scores>", "<x>")
        helper = f"def <helper>(<x>):\n{inner}\n    return <weights>\n\n\n"
        call = s.pick("    <weights> = <helper>(<scores>)\n", "    <weights> = <helper>(<scores>)\n")
        return s.written(f"import numpy as np\n\n\n{helper}def attention(Q, K, V, beta):\n{check}{scale}\n{call}{end}")
    return s.written(f"import numpy as np\n\n\ndef attention(Q, K, V, beta):\n{check}{_softmax(s, scale)}\n{end}")


def _multihead(s: Student) -> str:
    head = "import numpy as np\n\n\ndef multi_head_attention(C, W_Q, W_K, W_V, W_O, heads, mask=None):\n"
    masked = s.pick(
        "        if mask is not None:\n            <scores> = np.where(mask, <scores>, -np.inf)",
        "        if mask is not None:\n            <scores>[~mask] = -1e9",
        "        if mask is not None:\n            <scores> = <scores> + np.where(mask, 0.0, -1e30)",
        "        <scores> = <scores> if mask is None else np.where(mask, <scores>, -1e12)",
        "        if mask is not None:\n            blocked = np.logical_not(mask)\n            <scores>[blocked] = -np.inf",
    )
    soft = _softmax(s, "    DROP").replace("\n    ", "\n        ").replace("    DROP\n    ", "    ")
    keep, join = s.pick(
        "<out> = []|        <out>.append(v @ <weights>)|    return W_O @ np.concatenate(<out>, axis=0)",
        "<out> = []|        <out>.append(np.dot(v, <weights>))|    return W_O @ np.vstack(<out>)",
        "<out> = []|        one = v @ <weights>\n        <out> += [one]|    joined = np.concatenate(<out>)\n    return W_O @ joined",
        "<out> = []|        <out>.append(v @ <weights>)|    return np.matmul(W_O, np.vstack(<out>))",
    ).split("|", 1)
    body, end = join.split("|")
    setup, loop = s.pick(
        "    <width> = W_Q.shape[0] // heads\n|    for <index> in range(heads):\n"
        "        <part> = slice(<index> * <width>, (<index> + 1) * <width>)\n"
        "        q, k, v = W_Q[<part>] @ C, W_K[<part>] @ C, W_V[<part>] @ C",
        "    Q, K, V = W_Q @ C, W_K @ C, W_V @ C\n    <width> = Q.shape[0] // heads\n|"
        "    for q, k, v in zip(np.split(Q, heads), np.split(K, heads), np.split(V, heads)):",
        "    <width> = len(W_Q) // heads\n    Q = (W_Q @ C).reshape(heads, <width>, -1)\n"
        "    K = (W_K @ C).reshape(heads, <width>, -1)\n    V = (W_V @ C).reshape(heads, <width>, -1)\n|"
        "    for <index> in range(heads):\n        q, k, v = Q[<index>], K[<index>], V[<index>]",
        "    Q = W_Q @ C\n    K = W_K @ C\n    V = W_V @ C\n    <width> = int(Q.shape[0] / heads)\n|"
        "    for <index> in range(heads):\n        start, stop = <index> * <width>, <index> * <width> + <width>\n"
        "        q = Q[start:stop]\n        k = K[start:stop]\n        v = V[start:stop]",
        "    full = W_Q.shape[0]\n    <width> = full // heads\n|    for start in range(0, full, <width>):\n"
        "        q = W_Q[start : start + <width>] @ C\n        k = W_K[start : start + <width>] @ C\n"
        "        v = W_V[start : start + <width>] @ C",
    ).split("|")  # fmt: skip
    scale = s.pick(
        "        <scores> = k.T @ q / np.sqrt(<width>)",
        "        beta = 1 / np.sqrt(<width>)\n        <scores> = beta * (k.T @ q)",
        "        <scores> = (k.T @ q) * <width> ** -0.5",
        "        <scores> = np.dot(k.T, q) / <width> ** 0.5",
    )
    return s.written(f"{head}{setup}    {keep}\n{loop}\n{scale}\n{masked}\n{soft}\n{body}\n{end}")


def _encoder(s: Student) -> str:
    ffn = s.pick(
        "        self.<mlp> = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))|self.<mlp>(<x>)",
        "        self.up = nn.Linear(dim, hidden)\n        self.down = nn.Linear(hidden, dim)|self.down(torch.relu(self.up(<x>)))",
        "        self.w1 = nn.Linear(dim, hidden)\n        self.w2 = nn.Linear(hidden, dim)\n        self.act = nn.ReLU()|"
        "self.w2(self.act(self.w1(<x>)))",
        "        self.lin1, self.lin2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)|self.lin2(F.relu(self.lin1(<x>)))",
    ).split("|")  # fmt: skip
    norms = "        self.<n1> = nn.LayerNorm(dim)", "        self.<n2> = nn.LayerNorm(dim)"
    if s.rng.random() < 0.5:
        made = "        self.<attn> = nn.MultiheadAttention(dim, heads, batch_first=True)"
        used = s.pick(
            "        a, _ = self.<attn>(<x>, <x>, <x>)", "        a = self.<attn>(<x>, <x>, <x>)[0]",
            "        a, _ = self.<attn>(<x>, <x>, <x>, need_weights=False)",
        )  # fmt: skip
    else:
        made = s.pick(
            "        self.heads = heads\n        self.qkv = nn.Linear(dim, 3 * dim)\n        self.o = nn.Linear(dim, dim)",
            "        self.heads = heads\n        self.q = nn.Linear(dim, dim)\n        self.k = nn.Linear(dim, dim)\n"
            "        self.v = nn.Linear(dim, dim)\n        self.o = nn.Linear(dim, dim)",
        )
        split = (
            "        q, k, v = self.qkv(<x>).chunk(3, dim=-1)" if "qkv" in made else
            "        q, k, v = self.q(<x>), self.k(<x>), self.v(<x>)"
        )  # fmt: skip
        cut = s.pick(
            "        B, N, D = <x>.shape\n{s}\n        q = q.view(B, N, self.heads, -1).transpose(1, 2)\n"
            "        k = k.view(B, N, self.heads, -1).transpose(1, 2)\n        v = v.view(B, N, self.heads, -1).transpose(1, 2)",
            "        B, N, D = <x>.size()\n{s}\n"
            "        q, k, v = [t.reshape(B, N, self.heads, D // self.heads).permute(0, 2, 1, 3) for t in (q, k, v)]",
        ).replace("{s}", split)
        mixed = s.pick(
            "        <weights> = torch.softmax(q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5, dim=-1)\n        a = <weights> @ v",
            "        <scores> = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(D // self.heads)\n"
            "        <weights> = F.softmax(<scores>, dim=-1)\n        a = torch.matmul(<weights>, v)",
            "        a = F.scaled_dot_product_attention(q, k, v)",
        )
        glued = s.pick(
            "        a = self.o(a.transpose(1, 2).reshape(B, N, D))",
            "        a = a.permute(0, 2, 1, 3).contiguous().view(B, N, D)\n        a = self.o(a)",
        )
        used = f"{cut}\n{mixed}\n{glued}"
    rest = s.pick(
        "        <x> = self.<n1>(<x> + a)\n        return self.<n2>(<x> + {f})",
        "        <x> = <x> + a\n        <x> = self.<n1>(<x>)\n        <x> = self.<n2>(<x> + {f})\n        return <x>",
        "        <x> = self.<n1>(a + <x>)\n        b = {f}\n        return self.<n2>(<x> + b)",
    ).replace("{f}", ffn[1])
    return s.written(
        "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\nclass EncoderBlock(nn.Module):\n"
        f"    def __init__(self, dim, heads, hidden):\n        super().__init__()\n{s.shuffled(made, ffn[0], *norms)}\n\n"
        f"    def forward(self, <x>):\n{used}\n{rest}"
    )


def _patches(s: Student) -> str:
    head = "import torch\nfrom torch import nn\n\n\nclass PatchEmbedding(nn.Module):\n    def __init__(self, image, patch, channels, dim):\n"
    made, used = s.pick(
        "        self.<proj> = nn.Conv2d(channels, dim, kernel_size=patch, stride=patch)|"
        "        return self.<proj>(images).flatten(2).transpose(1, 2)",
        "        self.<proj> = nn.Conv2d(channels, dim, patch, patch)|"
        "        <x> = self.<proj>(images)\n        <x> = <x>.flatten(2)\n        return <x>.permute(0, 2, 1)",
        "        self.patch = patch\n        self.<proj> = nn.Linear(channels * patch * patch, dim)|"
        "        <x> = nn.functional.unfold(images, self.patch, stride=self.patch)\n        return self.<proj>(<x>.transpose(1, 2))",
        "        self.p = patch\n        self.<proj> = nn.Linear(channels * patch ** 2, dim)|"
        "        B, C, H, W = images.shape\n        n = H // self.p\n        <x> = images.reshape(B, C, n, self.p, n, self.p)\n"
        "        <x> = <x>.permute(0, 2, 4, 1, 3, 5).reshape(B, n * n, -1)\n        return self.<proj>(<x>)",
        "        self.side = patch\n        self.<proj> = nn.Linear(patch * patch * channels, dim)|"
        "        <x> = images.unfold(2, self.side, self.side).unfold(3, self.side, self.side)\n"
        "        <x> = <x>.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)\n        return self.<proj>(<x>)",
    ).split("|")  # fmt: skip
    checked = s.maybe("        assert image % patch == 0\n", 0.3)
    count = s.maybe("        self.count = (image // patch) ** 2\n", 0.3)
    return s.written(
        f"{head}        super().__init__()\n{checked}{count}{made}\n\n    def forward(self, images):\n{used}"
    )


def _vit(s: Student) -> str:
    count = s.pick("(image // patch) ** 2", "(image // patch) * (image // patch)")
    token = s.pick("torch.zeros(1, 1, dim)", "torch.randn(1, 1, dim)", "torch.randn(1, 1, dim) * 0.02")
    place = s.pick("torch.zeros(1, n + 1, dim)", "torch.randn(1, n + 1, dim) * 0.02", "torch.randn(1, 1 + n, dim)")
    wide = s.pick("4 * dim", "2 * dim", "dim * 4", "dim")
    made = [
        "        self.patches = PatchEmbedding(image, patch, channels, dim)",
        f"        self.<cls> = nn.Parameter({token})",
        f"        n = {count}\n        self.<pos> = nn.Parameter({place})",
        s.pick(
            f"        self.<blocks> = nn.ModuleList([EncoderBlock(dim, heads, {wide}) for _ in range(depth)])",
            f"        self.<blocks> = nn.Sequential(*[EncoderBlock(dim, heads, {wide}) for _ in range(depth)])",
            f"        self.<blocks> = nn.ModuleList()\n        for _ in range(depth):\n            self.<blocks>.append(EncoderBlock(dim, heads, {wide}))",
        ),
        s.pick(
            "        self.<headl> = nn.Linear(dim, classes)",
            "        self.<headl> = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))",
        ),
    ]
    joined = s.pick(
        "        <cls> = self.<cls>.expand(len(<x>), -1, -1)\n        <x> = torch.cat([<cls>, <x>], dim=1) + self.<pos>",
        "        c = self.<cls>.repeat(<x>.shape[0], 1, 1)\n        <x> = torch.cat((c, <x>), 1)\n        <x> = <x> + self.<pos>",
        "        B = images.size(0)\n        <x> = torch.cat([self.<cls>.expand(B, 1, -1), <x>], dim=1)\n        <x> += self.<pos>",
    )
    through = (
        "        <x> = self.<blocks>(<x>)" if "Sequential(*[" in made[3] else
        s.pick("        for block in self.<blocks>:\n            <x> = block(<x>)", "        for b in self.<blocks>: <x> = b(<x>)")
    )  # fmt: skip
    end = s.pick(
        "        return self.<headl>(<x>[:, 0])", "        <cls> = <x>[:, 0, :]\n        return self.<headl>(<cls>)"
    )
    head = "import torch\nfrom torch import nn\n\nfrom encoder import EncoderBlock\nfrom patches import PatchEmbedding\n\n\n"
    return s.written(
        f"{head}class ViT(nn.Module):\n    def __init__(self, image, patch, channels, dim, depth, heads, classes):\n"
        f"        super().__init__()\n{s.shuffled(*made)}\n\n    def forward(self, images):\n        <x> = self.patches(images)\n"
        f"{joined}\n{through}\n{end}"
    )


def _trial(s: Student, file: str) -> str:
    """What students leave at the end of a file: their own small trials."""
    if s.rng.random() > 0.35:
        return ""
    a, b, c = (s.rng.randint(2, 9) for _ in range(3))
    sized: dict[str, Callable[[], str]] = {
        "attention.py": lambda: s.pick(
            f"    Q, K, V = np.random.randn({a}, {b}), np.random.randn({a}, {c}), np.random.randn({b}, {c})\n"
            "    print(attention(Q, K, V, 1.0).shape)",
            f"    rng = np.random.default_rng({a})\n    K = rng.normal(size=({a}, {c}))\n    V = rng.normal(size=({b}, {c}))\n"
            "    for beta in (0, 1, 100):\n        H = attention(K, K, V, beta)\n        print(beta, H.mean(), H.std())",
            f"    eye = np.eye({a})\n    assert np.allclose(attention(eye, eye, eye, 1e4), eye)",
        ),
        "multihead.py": lambda: s.pick(
            f"    C = np.random.randn(8, {b})\n    W = [np.random.randn(8, 8) for _ in range(4)]\n"
            "    print(multi_head_attention(C, *W, heads=2))",
            f"    np.random.seed({a})\n    C = np.random.rand(4, {c})\n    I = np.eye(4)\n"
            f"    causal = np.triu(np.ones(({c}, {c}), dtype=bool))\n    print(multi_head_attention(C, I, I, I, I, 2, causal).round(3))",
        ),
    }  # fmt: skip
    module = _MODULES.get(file, "")
    default = partial(
        s.pick,
        f"    torch.manual_seed({a})\n    print('ok', {b} * {c})",
        f"    model = {module}\n    print(sum(p.numel() for p in model.parameters()))",
    )
    return "\n\n" + s.written(f"if __name__ == '__main__':\n{sized.get(file, default)()}")
