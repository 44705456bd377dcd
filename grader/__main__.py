"""`python -m grader`."""

from grader.start import main

main()
