"""The characters and the length that the handout of span corruption names (`nlp-a5`, part 2.e)."""

PAD_CHARACTER = "\u25a1"  # □
MASK_CHARACTER = "\u2047"  # ⁇
SHORTEST = 4  # characters kept by a truncation, if the document has as many
