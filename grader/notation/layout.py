"""What only arranges formulas on the page: spaces, breaks, environments."""

from __future__ import annotations

from grader.notation.word_lists import words

SPACES = words(", ; : ! thinspace enspace hspace vspace hskip kern mspace") | {" "}
BREAKS = words(r"quad qquad newline \ intertext hline par linebreak")
WITH_ARGUMENT = words("hspace vspace tag label color textcolor phantom mspace")
# Environments that only arrange formulas; what stands in any other is one thing that is not read.
DISPLAYS = words(
    """
    align aligned equation gather gathered split multline array eqnarray alignat displaymath math flalign center
    itemize enumerate
    """
)
