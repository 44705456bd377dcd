"""Characters and their ids."""
from typing import Dict, List

PAD, MASK = "□", "⁇"


def characters(data: str) -> List[str]:
    return [PAD, MASK, *sorted(set(data))]


def numbering(data: str) -> Dict[str, int]:
    return {character: number for number, character in enumerate(characters(data))}
