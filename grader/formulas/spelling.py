"""The many ways to write one letter, operator or function, each with the one name it has from here on."""

from __future__ import annotations

_GREEK_NAMES = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
]
_GREEK_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"

# LaTeX and plain names of letters. Variants that are the same letter to a reader are the same here.
LETTERS = dict(zip(_GREEK_NAMES, _GREEK_LETTERS, strict=True)) | {
    "varepsilon": "ε",
    "vartheta": "θ",
    "varphi": "φ",
    "varrho": "ρ",
    "varsigma": "σ",
    "eps": "ε",
    "Gamma": "Γ",
    "Delta": "Δ",
    "Theta": "Θ",
    "Lambda": "Λ",
    "Sigma": "Σ",
    "Phi": "Φ",
    "Psi": "Ψ",
    "Omega": "Ω",
    "ell": "ℓ",
}
_CYRILLIC = dict(zip("асеорхукмтвнАВСЕНКМОРТХ", "aceopxykmtbhABCEHKMOPTX", strict=True))  # drawn alike
SAME_LETTER = _CYRILLIC | {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ", "ϱ": "ρ", "µ": "μ", "∆": "Δ", "Ω": "Ω", "𝟙": "1"}

# Spelled out or with a backslash, and with numpy's, math's, scipy's or torch's name in front.
FUNCTIONS = {
    "exp": "exp",
    "log": "log",
    "ln": "log",
    "sqrt": "sqrt",
    "softmax": "softmax",
    "softargmax": "softmax",
    "sigmoid": "logistic",
    "logistic": "logistic",
    "expit": "logistic",
    "max": "max",
    "min": "min",
    "abs": "abs",
    "tanh": "tanh",
    "inv": "inverse",
    "pinv": "pinv",
    "transpose": "transpose",
    "dot": "product",
    "matmul": "product",
    "outer": "outer",
    "inner": "inner",
    "eye": "identity",
    "identity": "identity",
    "norm": "norm",
}
MODULES = frozenset(
    [
        "np",
        "numpy",
        "math",
        "torch",
        "scipy",
        "special",
        "linalg",
        "la",
        "F",
        "nn",
        "functional",
        "jnp",
        "sp",
        "sympy",
        "cmath",
    ]
)

# Written above, below or round a letter, and without meaning for these questions.
DECORATIONS = frozenset(
    [
        "mathbf",
        "boldsymbol",
        "bm",
        "vec",
        "overrightarrow",
        "mathrm",
        "mathit",
        "mathsf",
        "mathcal",
        "mathfrak",
        "mathtt",
        "mathbb",
        "mathds",
        "mathscr",
        "underline",
        "rm",
        "bf",
        "it",
        "sf",
        "cal",
        "pmb",
        "textbf",
        "textit",
        "ensuremath",
        "mathnormal",
        "displaystyle",
        "textstyle",
        "scriptstyle",
        "boxed",
        "underbrace",
        "overbrace",
        "mathop",
        "mathord",
        "operatornamewithlimits",
        "limits",
        "nolimits",
        "strut",
        "phantom",
        "smash",
        "bold",
        "left",
        "right",
        "middle",
        "big",
        "Big",
        "bigg",
        "Bigg",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "biggl",
        "biggr",
        "Biggl",
        "Biggr",
        "bigm",
        "Bigm",
        "nonumber",
        "notag",
        "allowbreak",
        "relax",
        "protect",
        "color",
        "textcolor",
        "centering",
        "hfill",
    ]
)
MARKS = {"hat": "̂", "widehat": "̂", "tilde": "̃", "widetilde": "̃", "bar": "̄", "overline": "̄", "dot": "̇"}
COMBINING = {"̂": "̂", "̃": "̃", "̄": "̄"}
TEXT_COMMANDS = frozenset(
    ["text", "textrm", "textnormal", "textsf", "texttt", "mbox", "hbox", "operatorname", "textup", "mathop"]
)
SPACES = frozenset([",", ";", ":", "!", " ", "thinspace", "enspace", "hspace", "vspace", "hskip", "kern", "mspace"])
BREAKS = frozenset(["quad", "qquad", "newline", "\\", "tag", "label", "intertext", "hline", "par", "linebreak"])
WITH_ARGUMENT = frozenset(["hspace", "vspace", "tag", "label", "color", "textcolor", "phantom", "mspace"])

RELATIONS = {
    "=": "=", ":=": "=", "==": "=", "≔": "=", "≜": "=", "≝": "=", "←": "=", "≡": "=", "⇐": "=",
    "coloneqq": "=", "coloneq": "=", "triangleq": "=", "equiv": "=", "leftarrow": "=", "gets": "=", "doteq": "=",
    "≈": "≈", "approx": "≈", "simeq": "≈", "sim": "∼", "∼": "∼", "~": "∼", "cong": "≈", "≅": "≈", "≃": "≈", "approxeq": "≈",
    "∝": "∝", "propto": "∝", "varpropto": "∝",
    "≫": "≫", "gg": "≫", "ggg": "≫", ">>": "≫", "≪": "≪", "ll": "≪", "lll": "≪", "<<": "≪", ">>>": "≫",
    ">": ">", "gt": ">", "<": "<", "lt": "<",
    "≥": "≥", ">=": "≥", "geq": "≥", "ge": "≥", "geqslant": "≥", "gtrsim": ">", "⩾": "≥",
    "≤": "≤", "<=": "≤", "leq": "≤", "le": "≤", "leqslant": "≤", "⩽": "≤",
    "≠": "≠", "!=": "≠", "neq": "≠", "ne": "≠",
    "→": "→", "->": "→", "to": "→", "rightarrow": "→", "longrightarrow": "→", "uparrow": "→", "↑": "→",
    "∈": "∈", "in": "∈", "notin": "∉", "perp": "⊥",
    "⇒": "⇒", "=>": "⇒", "⟹": "⇒", "Rightarrow": "⇒", "implies": "⇒", "Longrightarrow": "⇒", "therefore": "⇒", "∴": "⇒",
    "iff": "⇒", "Leftrightarrow": "⇒", "⇔": "⇒", "mid": "|", "because": "⇒", "∵": "⇒",
    "forall": "∀", "∀": "∀", "exists": "∀", "∃": "∀", "mapsto": "→",
}  # fmt: skip
OPERATORS = {
    "+": "+", "-": "-", "−": "-", "–": "-", "—": "-", "±": "±", "pm": "±", "mp": "±",
    "·": "·", "⋅": "·", "∙": "·", "•": "·", "cdot": "·", "bullet": "·", "×": "·", "times": "·", "∗": "*", "ast": "*", "*": "*",
    "@": "@", "⊗": "⊗", "otimes": "⊗", "/": "/", "÷": "/", "div": "/", "∕": "/", "⁄": "/", "slash": "/",
}  # fmt: skip
TRANSPOSES = frozenset(["T", "⊤", "top", "intercal", "⊺", "ᵀ", "tr", "Tr", "transpose", "TT"])
DAGGERS = frozenset(["+", "dagger", "†", "dag", "ddagger"])
ELLIPSES = frozenset(["…", "...", "dots", "ldots", "cdots", "⋯", "dotsb", "dotsc", "dotsm", "vdots", "ddots"])

SUPERSCRIPTS = {
    **dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾", "0123456789+-()", strict=True)),
    "ᵀ": "T", "ᵗ": "t", "ⁿ": "n", "ᵐ": "m", "ᵈ": "d", "ᵖ": "p", "ⁱ": "i", "ᵝ": "β", "ᵅ": "α", "ᵞ": "γ", "ᵏ": "k", "ʲ": "j", "ˣ": "x",
}  # fmt: skip
SUBSCRIPTS = {
    **dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True)),
    **dict(zip("ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧ", "aehijklmnoprstuvxβγ", strict=True)),
}
FRACTIONS = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅕": (1, 5)}

# Words that stand for a scale, and what they say about its size.
LARGE_WORDS = frozenset(
    [
        "large",
        "big",
        "huge",
        "enormous",
        "massive",
        "giant",
        "arbitrarily",
        "sufficiently",
        "infinite",
        "infinity",
        "extremely",
        "considerable",
        "substantial",
        "great",
        "high",
        "larger",
        "bigger",
    ]
)
SMALL_WORDS = frozenset(
    ["small", "tiny", "little", "vanishing", "vanishingly", "negligible", "infinitesimal", "smaller"]
)
SCALE_WORDS = (
    LARGE_WORDS
    | SMALL_WORDS
    | frozenset(
        [
            "scale",
            "scaling",
            "scalar",
            "constant",
            "const",
            "number",
            "factor",
            "temperature",
            "coefficient",
            "multiplier",
            "value",
        ]
    )
)
FILLER_WORDS = frozenset(["a", "an", "some", "any", "very", "the", "positive", "real", "fixed", "of", "is", "and"])
