"""Written answers searched for ideas: text → tokens → phrasings found, each with the words that say it."""

from grader.prose.ideas import Claim, Idea, Ideas, Judgement, judge

__all__ = ["Claim", "Idea", "Ideas", "Judgement", "judge"]
