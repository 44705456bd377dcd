"""Words that deny, doubt and take back. Each list stands here once; what differs between readers is said beside it."""

from __future__ import annotations

from grader.notation.word_lists import words

NOT = words("not never cannot")
# What is left of isn't, doesn't, wouldn't and won't where the apostrophe ends a word. Prose reads all of them as "not".
CONTRACTIONS = words("isn doesn wouldn won")
NEITHER = words("neither nor")
HARDLY = words("hardly barely scarcely rarely seldom")
FAILING = words("lack lacks lacking fail fails failed unable impossible")
WRONG = words("wrong false incorrect mistaken")

# Beside mathematics. "no" is not among them: it takes the formula before back, and the one behind it stands.
# With "unlike" a formula is turned down, while what is counted is compared: "unlike the other it takes …".
DENIALS = NOT | CONTRACTIONS | NEITHER
DENIALS_OF_A_FORMULA = DENIALS | {"unlike"}
VERDICTS = WRONG | {"mistake", "invalid", "fails", "contradiction"}
# In a sentence of prose, where whole clauses are denied and what is hardly so is not so.
DENIALS_IN_PROSE = NOT | NEITHER | HARDLY | FAILING | {"no", "none", "nobody", "without"}
NO_DENIAL_BEFORE = words("only just mere merely simply")  # "not only"
NO_DENIAL_WITH_NO = words("matter doubt")  # "no matter", while "it does not matter" denies

# Said of the formula before: that it may be wrong ("if that is not right …"), or where it does not do.
DOUBTS = WRONG | {"not", "isn"}
OBJECTIONS = words("not isn doesn cannot no wrong only fails needs less too without")

PERHAPS = words("maybe perhaps possibly")
INTERJECTIONS = words("sorry wait oops correction")
TAKEN_BACK = INTERJECTIONS | {"corrected", "edit", "scratch", "meant", "final", "finally"}

# What is said before these is about something else: "that has the wrong shape, so we take another".
CONSEQUENCES = words("so hence therefore thus consequently")
CONTRASTS = words("but however though although")
