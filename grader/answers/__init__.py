"""answers.md, .tex or .yaml → what was written for each part.

What no reader sees goes first (unseen.py). A reader for each format makes lines of the rest (readers.py, lines.py); a
line may begin with a label (labels.py); a label leads to a part in its context (outline.py, part_cursor.py); what
follows belongs to that part (splitting.py).
"""

from grader.answers.handing_over import about, answer_to
from grader.answers.sheet import cut_into_parts, read_answers

__all__ = ["about", "answer_to", "cut_into_parts", "read_answers"]
