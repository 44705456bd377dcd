"""Words that students use for one another, in groups that phrasings name with `@`.

General English for mathematics only: what belongs to one assignment stands in its rubric. Written as in phrasings: any
form of a word counts, `vanish*` is every word that begins so, `add-up` is neighbours.
"""

from __future__ import annotations

THESAURUS = {
    "sum": "sum add total altogether together summation Σ overall add-up make-up mass",
    "large": "large big huge high great strong massive enormous considerable significant substantial ≫ ∞",
    "larger": (
        "larger bigger higher greater stronger exceed dominate dominant outweigh ≫ > win beat outscore surpass "
        "more most largest highest"
    ),
    "small": "small tiny low little minor negligible vanish* minimal ≪ slight",
    "smaller": "smaller lower less shrink",
    "grow": "grow increase boost rise raise larger bigger amplify more",
    "equal": "equal same fifty-fifty balanced tie identical equivalent alike = ≈ match common",
    "near": "near close approximate about almost nearly roughly around ≈ = approach converge tend → equal",
    "other": "other rest competitor remain others remainder else another remaining",
    "every": "every all each any whole entire ∀ both",
    "similar": (
        "similar similarity align alignment parallel match close fit resemble correspond same-direction near "
        "closest identical compatible agree"
    ),
    "orthogonal": "orthogonal perpendicular orthonormal orthogonality ⊥ independent-direction",
    "zero": (
        "0 nil null zeroed wiped vanish* disappear cancel annihilat* kill negligible remove drop eliminat* nothing"
    ),
    "change": "change wiggle jitter displace vary varies alter shift move differ affect perturb influence different",
    "swing": (
        "swing bimodal fluctuate wobble hop oscillat* fluctuat* flip jump alternat* switch sway bounce toggle vacillat*"
    ),
    "stable": (
        "stable steady constant robust consistent consistently stability unchanged reliable invariant insensitive same"
    ),
    "unstable": "unstable instab* inconsistent erratic unreliable volatile unpredictable",
    "mean": "mean average averag* expectation expected centre center midpoint middle",
    "copy": (
        "copy recover hand fetch give-back get-back read-out copied pass-through return retrieve output forward "
        "reproduce select pick pass extract read look-up lookup get"
    ),
    "know": (
        "know absorb acquire internali* exposed expose known knowledge learn learnt memor* remember store encode "
        "fact information seen see saw encounter contain read"
    ),
    "guess": "guess random chance invent make-up made-up hallucinat*",
    "variance": "varia* var spread fluctuat* deviation dispersion scatter noise std uncertainty",
    "example": "example instance think-of eg suppose imagine such-as consider scenario case say",
    "different": "different distinct separate own various differ several diverse unique",
    "learned": "learn learned learnt learnable train trainable trained parameter",
    "linear": "linear linearly affine dense matrix projection",
    "convolution": "convolution convolutional conv cnn conv1d convolve conv2d",
}
