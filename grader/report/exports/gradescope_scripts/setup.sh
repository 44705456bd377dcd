#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: a Python of its own for the grader, with the versions it was tested with.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
cd "$root/source"

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

python=""
for candidate in python3.13 python3.12 python3.11 python3; do
    if fits "$candidate"; then python="$candidate"; break; fi
done
if [ -z "$python" ]; then
    apt-get update && apt-get install --yes python3.11 python3.11-venv
    python=python3.11
fi
if ! "$python" -m venv "$root/venv"; then
    apt-get update && apt-get install --yes "$(basename "$(readlink -f "$(command -v "$python")")")-venv"
    "$python" -m venv --clear "$root/venv"
fi

# pip's usual torch brings gigabytes for a GPU that an autograder has not got. Where PyTorch's CPU builds may be used, say so
# with pip's own environment variables above this line.
"$root/venv/bin/python" -m pip install --disable-pip-version-check --no-cache-dir --constraint constraints.txt --editable '.[torch]'

# Says in the build log what isolation there is. Grading refuses by itself where a required layer is missing.
"$root/venv/bin/python" -m grader doctor || true
