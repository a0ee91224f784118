# Every target works from a fresh clone: make, a Python >= 3.11 and a package index are all it takes.
PYTHON ?= python3

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
WHEEL_VENV := .venv-wheel
BIN := $(VENV)/bin
WHEEL_BIN := $(WHEEL_VENV)/bin
# Twice quiet: errors are printed, nothing else is.
PIP_INSTALL := -m pip --disable-pip-version-check --no-input install --quiet --quiet

.PHONY: help setup check test test-source test-wheel demo bench soak clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) \
		| while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

setup: $(VENV)/.stamp ## make .venv with the pinned packages and this project, editable

$(VENV)/.stamp: constraints.txt pyproject.toml
	@echo "installing the pinned packages into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP_INSTALL) --require-hashes -r constraints.txt
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(WHEEL_VENV)/.stamp: constraints.txt
	@echo "installing the pinned packages into $(WHEEL_VENV)"
	@test -x $(WHEEL_BIN)/python || $(PYTHON) -m venv $(WHEEL_VENV)
	@$(WHEEL_BIN)/python $(PIP_INSTALL) --require-hashes -r constraints.txt
	@touch $@

check: setup ## lint, format, types, layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: setup ## the tests with branch coverage, then again on the installed wheel
	@$(MAKE) test-source
	@$(MAKE) test-wheel

test-source: setup # the tests on the source tree
	$(BIN)/python -m pytest -n 2 --cov --cov-branch --cov-fail-under=97

# The source archive is built first and the wheel from it, so a file missing from either is noticed. pytest runs
# in a folder that holds `tests` and nothing else: `ledger`, `cli` and `schemas` can then only come from the wheel.
test-wheel: setup $(WHEEL_VENV)/.stamp # the tests of the commands and the package on the wheel
	@rm -rf build/dist
	$(BIN)/python -m build --quiet --no-isolation --outdir build/dist
	@$(WHEEL_BIN)/python $(PIP_INSTALL) --no-deps --no-index --force-reinstall build/dist/*.whl
	@away=$$(mktemp -d) && trap 'rm -rf "$$away"' EXIT && ln -s "$(CURDIR)/tests" "$$away/tests" && cd "$$away" \
		&& export PATH="$(CURDIR)/$(WHEEL_BIN):$$PATH" \
		&& python -c 'import cli, ledger, schemas, sysconfig; site = sysconfig.get_path("purelib"); \
			assert all(next(iter(m.__path__)).startswith(site) for m in (cli, ledger, schemas)), "not the wheel"' \
		&& echo "tests on the wheel" \
		&& python -m pytest -n 2 -p no:cacheprovider -c "$(CURDIR)/pyproject.toml" --rootdir="$(CURDIR)" \
			"$(CURDIR)/tests/cli" "$(CURDIR)/tests/packaging"

demo: setup ## show the ledger at work
	@$(BIN)/python tests/demo.py

bench: setup ## measure speed, as ratios within one run
	@$(BIN)/python tests/bench/run.py

soak: setup ## crash and recover, and read mutated files, for an hour
	$(BIN)/python -m pytest tests/cli tests/crash tests/property tests/unit -m soak -n 0 -rP

clean: ## remove all that the targets made
	rm -rf $(VENV) $(WHEEL_VENV) build dist htmlcov .coverage .coverage.* .hypothesis
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
