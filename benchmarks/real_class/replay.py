"""Asks a student's code what the grader asked it: frames on stdin, no sandbox, no checks. Loads the libraries named."""

import importlib
import os
import sys

from grader.sandbox.box import wire, worker

for name in sys.argv[1:]:
    importlib.import_module(name)
nowhere = os.open(os.devnull, os.O_WRONLY)
os.dup2(nowhere, 1)
os.dup2(nowhere, 2)
worker.seed(0)
while (question := wire.read_question(0)) is not None:
    worker.respond(nowhere, question)
