#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: a Python of its own for the grader, with the versions it was tested with.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

root="${AUTOGRADER_ROOT:-/autograder}"
grader="${GRADER_PYTHON:-$root/venv/bin/python}"
rubric=(@RUBRIC@)
cd "$root/source"

install() {
    local python="" candidate
    for candidate in python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$candidate"; break; fi
    done
    if [ -z "$python" ]; then
        apt-get update && apt-get install --yes python3.11 python3.11-venv
        python=python3.11
    fi
    if ! "$python" -m venv "$root/venv"; then
        apt-get update && apt-get install --yes "$(basename "$(readlink -f "$(command -v "$python")")")-venv"
        "$python" -m venv --clear "$root/venv"
    fi
    # pip's usual torch brings gigabytes for a GPU that an autograder has not got; uv finds the CPU build.
    "$grader" -m pip install --disable-pip-version-check --no-cache-dir 'uv>=0.8'
    "$grader" -m uv pip install --python "$grader" --no-cache --torch-backend=cpu --constraint constraints.txt \
        --editable '.[torch]' --editable assignments
}

if [ -z "${GRADER_PYTHON:-}" ]; then install; fi

# An image that cannot grade must not be built: try the sandbox, then grade a submission that is empty.
if [[ " ${rubric[*]} " != *" --unsafe "* ]]; then "$grader" -m grader doctor; fi
if [ -f secret ]; then export GRADER_SECRET_FILE="$root/source/secret"; fi
empty="$(mktemp -d)"
"$grader" -m grader run "$empty" "${rubric[@]}"
rmdir "$empty"
