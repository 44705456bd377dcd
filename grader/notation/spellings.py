"""The many ways to write one letter, operator or function, each with the one name it has from here on."""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _spelled(table: Mapping[str, str]) -> dict[str, str]:
    """From each meaning with its spellings to each spelling with its meaning."""
    return {spelling: meaning for meaning, spellings in table.items() for spelling in spellings.split()}


_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon "
    "phi chi psi omega"
)
_GREEK_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"

# LaTeX and plain names of letters. Variants that are the same letter to a reader are the same here.
LETTERS = dict(zip(_GREEK_NAMES.split(), _GREEK_LETTERS, strict=True)) | {
    "varepsilon": "ε", "vartheta": "θ", "varphi": "φ", "varrho": "ρ", "varsigma": "σ", "eps": "ε", "ell": "ℓ",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
_CYRILLIC = dict(zip("асеорхукмтвнАВСЕНКМОРТХ", "aceopxykmtbhABCEHKMOPTX", strict=True))  # drawn alike
SAME_LETTER = _CYRILLIC | {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ", "ϱ": "ρ", "µ": "μ", "∆": "Δ", "Ω": "Ω", "𝟙": "1"}

# Spelled out or with a backslash, and with numpy's, math's, scipy's or torch's name in front.
FUNCTIONS = _spelled(
    {
        "exp": "exp",
        "log": "log ln",
        "sqrt": "sqrt",
        "softmax": "softmax softargmax",
        "logistic": "sigmoid logistic expit",
        "max": "max",
        "min": "min",
        "abs": "abs",
        "tanh": "tanh",
        "inverse": "inv",
        "pinv": "pinv",
        "transpose": "transpose",
        "product": "dot matmul",
        "outer": "outer",
        "inner": "inner",
        "identity": "eye identity",
        "norm": "norm",
    }
)
KEYWORDS = _words("axis dim keepdims")  # what numpy's and torch's softmax may be told
MODULES = _words("np numpy math torch scipy special linalg la F nn functional jnp sp sympy cmath")

# Written above, below or round a letter, and without meaning for these questions.
DECORATIONS = _words(
    """
    mathbf boldsymbol bm vec overrightarrow mathrm mathit mathsf mathcal mathfrak mathtt mathbb mathds mathscr
    underline rm bf it sf cal pmb textbf textit ensuremath mathnormal displaystyle textstyle scriptstyle boxed
    underbrace overbrace mathop mathord operatornamewithlimits limits nolimits strut phantom smash bold left
    right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm nonumber notag
    allowbreak relax protect color textcolor centering hfill
    """
)
MARKS = {"hat": "̂", "widehat": "̂", "tilde": "̃", "widetilde": "̃", "bar": "̄", "overline": "̄", "dot": "̇"}
COMBINING = frozenset("̂̃̄")
TEXT_COMMANDS = _words("text textrm textnormal textsf texttt mbox hbox operatorname textup")
SPACES = _words(", ; : ! thinspace enspace hspace vspace hskip kern mspace") | {" "}
BREAKS = _words(r"quad qquad newline \ intertext hline par linebreak")
WITH_ARGUMENT = _words("hspace vspace tag label color textcolor phantom mspace")
# Environments that only arrange formulas; what stands in any other is one thing that is not read.
DISPLAYS = _words(
    """
    align aligned equation gather gathered split multline array eqnarray alignat displaymath math flalign center
    itemize enumerate
    """
)

RELATIONS = _spelled(
    {
        "=": "= := == <- ≔ ≜ ≝ ← ≡ ⇐ coloneqq coloneq triangleq equiv leftarrow gets doteq",
        "≈": "≈ approx simeq cong ≅ ≃ approxeq",
        "∼": "sim ∼ ~",
        "∝": "∝ propto varpropto",
        "≫": "≫ gg ggg >> >>>",
        "≪": "≪ ll lll <<",
        ">": "> gt gtrsim",
        "<": "< lt",
        "≥": "≥ >= geq ge geqslant ⩾",
        "≤": "≤ <= leq le leqslant ⩽",
        "≠": "≠ != neq ne",
        "→": "→ -> to rightarrow longrightarrow uparrow ↑ mapsto",
        "∈": "∈ in",
        "∉": "notin",
        "⊥": "perp",
        "⇒": "⇒ => ⟹ Rightarrow implies Longrightarrow therefore ∴ iff Leftrightarrow ⇔ because ∵",
        "|": "mid",
        "∀": "forall ∀ exists ∃",
    }
)
OPERATORS = _spelled(
    {
        "+": "+",
        "-": "- − – —",
        "±": "± pm mp",
        "·": "· ⋅ ∙ • cdot bullet × times",
        "*": "∗ ast *",
        "@": "@",
        "⊗": "⊗ otimes",
        "/": "/ ÷ div ∕ ⁄ slash",
    }
)
TRANSPOSES = _words("T ⊤ top intercal ⊺ ᵀ tr Tr transpose TT")
DAGGERS = _words("+ dagger † dag ddagger")
ELLIPSES = _words("… ... dots ldots cdots ⋯ dotsb dotsc dotsm vdots ddots")

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀᵗⁿᵐᵈᵖⁱᵝᵅᵞᵏʲˣ", "0123456789+-()Ttnmdpiβαγkjx", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧ", "0123456789+-aehijklmnoprstuvxβγ", strict=True))
FRACTIONS = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅕": (1, 5)}

INFINITIES = _words("inf Inf infty")
# Never a product of letters where words stand.
SHORT_WORDS = _words("as so is at in on we to of or if by be an am do it my no us ie eg via aka has all")

# Words that stand for a scale, and what they say about its size.
LARGE_WORDS = _words(
    """
    large big huge enormous massive giant arbitrarily sufficiently infinite infinity extremely considerable
    substantial great high larger bigger
    """
)
SMALL_WORDS = _words("small tiny little vanishing vanishingly negligible infinitesimal smaller")
SCALE_WORDS = (
    LARGE_WORDS
    | SMALL_WORDS
    | _words("scale scaling scalar constant const number factor temperature coefficient multiplier value")
)
FILLER_WORDS = _words("a an some any very the positive real fixed of is and")
# Words that may stand between a letter and what is said of its size: "β is some very large constant".
LINKING_WORDS = _words(
    """
    is be are being was a an the some any very chosen to sufficiently arbitrarily extremely positive scalar constant
    number as with taken should must needs need goes go tends tend approaches going real value factor and that such
    becomes grows set fixed parameter scale denotes represents can made for where of towards toward quite really
    temperature inverse i e too enough which
    """
)
