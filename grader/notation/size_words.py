"""Words that stand beside letters or for them: what is said about a size, and what stands between."""

from __future__ import annotations

from grader.notation.word_lists import words

# Never a product of letters where words stand.
SHORT_WORDS = words(
    """
    as so is at in on we to of or if by be an am do it my no us ie eg via aka has all and with not that than then
    what had
    """
)

# Words that stand for a scale, and what they say about its size.
LARGE_WORDS = words(
    """
    large big huge enormous massive giant arbitrarily sufficiently infinite infinity extremely considerable
    substantial great high larger bigger
    """
)
SMALL_WORDS = words("small tiny little vanishing vanishingly negligible infinitesimal smaller")
SCALE_WORDS = (
    LARGE_WORDS
    | SMALL_WORDS
    | words("scale scaling scalar constant const number factor temperature coefficient multiplier value")
)
FILLER_WORDS = words("a an some any very the positive real fixed of is and")
# Words that may stand between a letter and what is said of its size: "β is some very large constant".
LINKING_WORDS = words(
    """
    is be are being was a an the some any very chosen to sufficiently arbitrarily extremely positive scalar constant
    number as with taken should must needs need goes go tends tend approaches going real value factor and that such
    becomes grows set fixed parameter scale denotes represents can made for where of towards toward quite really
    temperature inverse i e too enough which
    """
)
