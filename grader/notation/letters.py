"""Letters by their names, letters drawn alike, and small ones above and below the line."""

from __future__ import annotations

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
# Signs that a word processor writes for its own layout when a formula is copied as text: P=∑_(i=1)^m▒〖u_i w_i^T〗.
_LINEAR = {"〖": "(", "〗": ")", "▒": " ", "├": " ", "┤": " "}
SAME_LETTER = _CYRILLIC | {"ϵ": "ε", "ϑ": "θ", "ϕ": "φ", "ϱ": "ρ", "µ": "μ", "∆": "Δ", "Ω": "Ω", "𝟙": "1"} | _LINEAR

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀᵗⁿᵐᵈᵖⁱᵝᵅᵞᵏʲˣ", "0123456789+-()Ttnmdpiβαγkjx", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧ", "0123456789+-aehijklmnoprstuvxβγ", strict=True))
FRACTIONS = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅕": (1, 5)}
