"""Similar work: pointers for staff to pairs of submissions that share what hardly anyone else has. Never verdicts.

Code, written answers and prediction files are each turned into a row of numbers (`normalised_tokens`, `prose_shingles`,
`prediction_lines`), without what the course gave. Fingerprints of it (`winnowing`) go into one inverted index over the
class (`shared_by_class`), which leaves out what many have. What remains is aligned (`runs`) and ranked (`pairs`).

copydetect, the library for this, is not used: it holds every file against every other one, knows course code only as
files that are given to it and not as what most of a class has, reads no notebooks, prose or predictions, and brings
matplotlib. The idea is the same: winnowing, as in MOSS.
"""
