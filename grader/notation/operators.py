"""Relations and operators, and what is raised to transpose, by sign and by command."""

from __future__ import annotations

from grader.notation.word_lists import spelled, words

RELATIONS = spelled(
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
OPERATORS = spelled(
    {
        "+": "+",
        "-": "- − – —",
        "±": "± pm mp",
        "·": "· ⋅ ∙ • cdot bullet × times",
        "*": "∗ ast *",
        "@": "@",
        "⊗": "⊗ otimes",
        "∘": "∘ circ",
        "/": "/ ÷ div ∕ ⁄ slash",
    }
)
TRANSPOSES = words("T ⊤ top intercal ⊺ ᵀ tr Tr transpose TT")
DAGGERS = words("+ dagger † dag ddagger")
ELLIPSES = words("… ... dots ldots cdots ⋯ dotsb dotsc dotsm vdots ddots")
