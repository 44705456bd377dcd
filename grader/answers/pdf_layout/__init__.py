"""Glyphs on a page → rows of text, as a reader sees them.

boxes.py names the glyphs; stacked.py puts together what stands above and below each other (fractions, roots, limits of
sums, marks over letters); rows.py makes rows of the rest; row_text.py writes one row, indices as `_{…}` and powers as
`^{…}`; margins.py leaves out what every page repeats.
"""
