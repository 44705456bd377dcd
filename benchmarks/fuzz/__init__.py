"""Damaged inputs for every reader of what others wrote: each must end in a result or in one line, and soon.

    python -m benchmarks.fuzz --count 1000000 --seed 13 --jobs 2
    python -m benchmarks.fuzz --kind notebooks --count 20000
    python -m benchmarks.fuzz --replay notebooks:13:4711

material.py holds what is damaged (our samples), bytewise.py and structured.py damage it, kinds.py says for each kind of
input how it is made and read, watching.py runs it in processes that are ended when they take too long.
"""
