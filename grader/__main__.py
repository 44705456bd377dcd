"""`python -m grader`, wherever one stands.

Python puts the working directory first among the places it imports from, and that may be a student's folder with a
`numpy.py` of its own: nothing is imported before it is taken out again. (`os` and `sys` have been loaded by Python.)
"""

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
if not sys.flags.safe_path and os.path.realpath(sys.path[0] or os.curdir) != _HERE:
    del sys.path[0]

from grader.start import main  # noqa: E402 - only now

main()
