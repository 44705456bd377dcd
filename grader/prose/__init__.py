"""Written answers searched for ideas: text → tokens → phrasings found, each with the words that say it."""

from grader.prose.ideas import Claim, Claims, Idea, Ideas, Judgement, Phrasing, item_phrased_apart, judge

__all__ = ["Claim", "Claims", "Idea", "Ideas", "Judgement", "Phrasing", "item_phrased_apart", "judge"]
