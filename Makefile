# Needs Python 3.11+ and make; everything else is installed into .venv. Each target is a quick no-op when nothing changed.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
# Python may have been told to keep no bytecode; then every process that a test starts compiles the grader anew.
PYTEST = OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal
PROCESSES = 2
# Tests of clusters and of limits wait more than they compute: with one process more, no core stands idle meanwhile.
test test-all: PROCESSES = 3

.PHONY: setup wheels demo test test-fast test-all check lint types mutants bench clean

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml assignments/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is %d.%d: make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable '.[torch,test,review,dask]' --editable assignments
	@touch $@

# Two: the harness, which is public and which students install, and the assignments with their answers, for staff. What an
# earlier build has left would be packed again.
wheels: setup
	rm -rf build/lib build/wheels assignments/build
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/wheels . ./assignments
	@ls build/wheels

demo: setup
	@mkdir -p build
	$(BIN)/grader run submissions/alice --html build/alice.html
	@echo
	@echo "Her page is build/alice.html: open it in a browser. What to do next:"
	@echo "  source .venv/bin/activate"
	@echo "  grader batch submissions --out grades --rubric nlp-a5   # a class; its page is grades/index.html"
	@echo "  grader review grades                                    # what waits for a person"
	@echo "  grader release nlp-a5 --out kit                         # what students get; there they run: grader check ."

test: lint types
	$(PYTEST)

# The quick loop: every room, without what is marked slow (tests/test_areas.py holds that none is left out).
test-fast: setup
	$(PYTEST) -m "not slow"

# Long lists of alike cases to their end, of which `make test` asks some (`some_of` in tests/conftest.py).
test-all: setup
	EVERY_CASE=1 $(PYTEST)

lint: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: setup
	$(BIN)/mypy

# The tests of one area: make check FILE=grader/compare.py
check: setup
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m benchmarks.areas $(FILE)

# Faults in the grader's own code, and whether its tests notice; it goes on where it was stopped. At first, which lines each
# test runs is recorded (as long as `make test`, and half as long again; with --quick, as `make test-fast`).
mutants: setup
	$(BIN)/python -m benchmarks.mutants $(ARGS)

bench: setup
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.reference_speed
	$(BIN)/python -m benchmarks.formula_corpus
	$(BIN)/python -m benchmarks.pdf_speed
	$(BIN)/python -m benchmarks.reading_stages
	$(BIN)/python -m benchmarks.prose_accuracy
	$(BIN)/python -m benchmarks.forms
	$(BIN)/python -m benchmarks.throughput --sizes 100
	$(BIN)/python -m benchmarks.long_class --count 1000
	$(BIN)/python -m benchmarks.reviewing
	$(BIN)/python -m benchmarks.clusters --count 100

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info
