# `make test` is the whole check: it builds its own environment from the lock files and needs nothing but Python 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
# The crash tests are seeded; a failure prints the seed, and `make test SEED=…` plays it again.
SEED ?=
PYTEST_ARGS ?=
# Test processes at once. More than there are cores saves time, and makes tests that wait for stints wait longer.
WORKERS ?= 2
# A lock file names everything, so nothing is left to resolve: left to it, older pips take `coverage[toml]` for another
# package than the locked `coverage`, and refuse as soon as a newer one is published.
LOCKED := --quiet --require-hashes --no-deps

.PHONY: test setup packages lint types unit cover bench soak lock docs clean

test: setup lint types unit

setup: $(STAMP)

$(STAMP): requirements.lock requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "outlast needs Python 3.11 or later, this is " + sys.version)'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install $(LOCKED) -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check --quiet
	$(BIN)/python -m compileall -q $(VENV)/lib || true
	bash tools/install-system-packages
	touch $(STAMP)

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/vermin --quiet --no-tips --violations -t=3.7- --no-parse-comments src/outlast/inside src/outlast/callbacks.py src/outlast/__init__.py

types:
	$(BIN)/mypy

# Tests start our commands thousands of times. Where Python is told to write no bytecode, as in many containers, each of
# them would compile its modules anew.
unit:
	$(BIN)/python -m compileall -q src
	$(if $(SEED),OUTLAST_TEST_SEED=$(SEED)) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

# The same tests with every line counted, which takes them nearly twice the processor time.
cover: setup
	$(MAKE) unit PYTEST_ARGS="--cov --cov-report=term:skip-covered $(PYTEST_ARGS)"

bench: setup
	$(BIN)/python -m pip install $(LOCKED) -r requirements-bench.lock
	$(BIN)/python -m bench

# Long runs that CI does not wait for.
soak: setup
	bash tools/install-system-packages soak
	OUTLAST_SOAK=1 $(BIN)/python -m pytest -n 2 tests/e2e $(PYTEST_ARGS)
	$(BIN)/python -m pytest -m soak $(PYTEST_ARGS)

# No index address ever enters a lock file, so it installs from whatever index the machine is set up for.
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --no-emit-index-url pyproject.toml
lock:
	$(LOCK) -o requirements.lock
	$(LOCK) --group dev -o requirements-dev.lock
	$(LOCK) --group dev --group bench -o requirements-bench.lock

docs: setup
	$(BIN)/python -m tools.reference

clean:
	rm -rf $(VENV) build dist .coverage htmlcov
