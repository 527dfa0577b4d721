# Everything a contributor needs, from a plain Python and make. `make` alone lists it.
#
# The environment is built in .venv, in two steps: what the demo needs to run, and what proves it. Each step leaves
# a stamp, so that a second run starts at once and a changed pyproject.toml is installed again.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

CODE := src tests benchmarks
VENV := .venv
RUN := $(VENV)/bin/
PIP := $(RUN)python -m pip --disable-pip-version-check --quiet
# A version of PyTorch of which there is a wheel for processors alone: others bring gigabytes along.
PINNED := --constraint constraints.txt
RUNTIME := $(VENV)/.runtime
TESTS := $(VENV)/.tests
DOCS := $(VENV)/.docs

# Numba's cache does not know which options it was compiled under: each way of running has a folder of its own.
CACHE := $(CURDIR)/.cache
JIT := NUMBA_CACHE_DIR="$(CACHE)/numba"
JIT_FREE := NUMBA_DISABLE_JIT=1 NUMBA_CACHE_DIR="$(CACHE)/numba-jit-free"
BOUNDS := NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CACHE)/numba-bounds"
BENCH := $(JIT) $(RUN)python benchmarks
STEADY := HYPOTHESIS_PROFILE=steady

.DEFAULT_GOAL := help
.PHONY: help demo test lint format suite jit-free bounds docs bench clean
.DELETE_ON_ERROR:

help: ## list what can be made
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /|/' | \
		while IFS='|' read -r name what; do printf '  make %-9s %s\n' "$$name" "$$what"; done

demo: $(RUNTIME) ## all families of rankers learn from judged data; a table, and a page for the browser
	@$(RUN)rankloom demo --force $(ARGS)
	@echo; echo "rankloom is in $(VENV)/bin; this puts it on your path:  . $(VENV)/bin/activate"

test: lint suite jit-free bounds ## prove everything: lint, types, the suite, and its reduced runs

lint: $(TESTS) ## ruff and mypy
	$(RUN)ruff check $(CODE)
	$(RUN)ruff format --check $(CODE)
	$(RUN)mypy

format: $(TESTS) ## let ruff put the code in shape
	$(RUN)ruff check --fix $(CODE)
	$(RUN)ruff format $(CODE)

# Kernels are compiled once before the workers start, so that no two of them compile the same one.
suite: $(TESTS) ## the whole test suite
	$(JIT) $(RUN)rankloom warmup
	$(JIT) $(STEADY) $(RUN)pytest -n $(WORKERS) $(ARGS)

jit-free: $(TESTS) ## the reduced suite with kernels as plain Python
	$(JIT_FREE) $(STEADY) $(RUN)pytest -n $(WORKERS) -m jit_free $(ARGS)

bounds: $(TESTS) ## the reduced suite with every index checked
	$(BOUNDS) $(STEADY) $(RUN)pytest -n $(WORKERS) -m bounds $(ARGS)

docs: $(DOCS) ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(RUN)mkdocs build --strict

bench: $(TESTS) ## speed and memory beside the peers (many minutes, 2 GB of data in benchmarks/data)
	@mkdir -p benchmarks/data
	$(BENCH)/reading.py benchmarks/data
	$(BENCH)/write.py
	$(BENCH)/store.py benchmarks/data
	$(BENCH)/measures.py
	$(BENCH)/compare.py speed
	$(BENCH)/compare.py honesty
	$(BENCH)/intervals.py
	$(BENCH)/spd.py
	$(BENCH)/rare_events.py
	$(BENCH)/stream.py
	$(BENCH)/scaler.py
	$(BENCH)/ranksvm.py
	$(BENCH)/online.py
	$(BENCH)/drift.py
	$(BENCH)/lambdas.py
	$(BENCH)/lambdamart.py
	$(BENCH)/nonlinear_quality.py
	$(BENCH)/mix.py
	$(BENCH)/nets.py
	$(BENCH)/tune.py

clean: ## forget the environment and everything that was built
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache site demo-output

$(VENV)/.base:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		f"rankloom needs Python 3.11 or newer, {sys.executable} is {sys.version.split()[0]}: make PYTHON=...")'
	@echo "building .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(RUNTIME): pyproject.toml constraints.txt $(VENV)/.base
	@echo "installing rankloom into .venv"
	@$(PIP) install $(PINNED) --editable '.[trees,report]'
	@touch $@

$(TESTS): pyproject.toml constraints.txt $(RUNTIME)
	@echo "installing the test tools into .venv"
	@$(PIP) install $(PINNED) --editable '.[tables,trees,report]' --group test
	@touch $@

$(DOCS): pyproject.toml $(RUNTIME)
	@echo "installing the documentation tools into .venv"
	@$(PIP) install $(PINNED) --group docs
	@touch $@
