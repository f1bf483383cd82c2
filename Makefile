# make demo | test | lint | typecheck | docs | docs-site | test-upstream | test-patches | patches-replay
# make bench | bench-gate | bench-micro | aider-versions | hosts
# make mutants | lock | format | clean
# The environment: VENV (default .venv) is made from PYTHON with uv if there is one, else with venv and pip.
# `make test UV=` forces pip; `make test PYTHON=python3.10 VENV=.venv310` takes another Python.

VENV ?= .venv
UV ?= $(shell uv --version >/dev/null 2>&1 && echo uv)
SUPPORTED := import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 13))
PYTHON ?= $(shell for python in python3 python3.12 python3.11 python3.10 python; do \
	$$python -c '$(SUPPORTED)' >/dev/null 2>&1 && { echo $$python; break; }; done)

BIN := $(VENV)/bin
LOCK := requirements/dev.lock
INSTALLED := $(VENV)/.installed
DEMO_SESSION ?= recorded_sessions/queue-incident
TEST_FLAGS ?= -n auto --dist worksteal

.DELETE_ON_ERROR:
.PHONY: demo test lint typecheck docs docs-site test-upstream test-patches patches-replay \
	bench bench-gate bench-micro aider-versions hosts mutants lock format clean

demo: $(INSTALLED)
	@mkdir -p build
	$(BIN)/gardener replay $(DEMO_SESSION) --plot build/demo.svg

test: $(INSTALLED)
	$(BIN)/python -m pytest $(TEST_FLAGS) --benchmark-disable

lint: $(INSTALLED) typecheck docs
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

typecheck: $(INSTALLED)
	$(BIN)/python -m mypy

docs: $(INSTALLED)
	$(BIN)/python tools/check_docs.py

# The site, which needs no network to be read: build/site/index.html. Its tools need Python 3.11 or 3.12.
docs-site: build/docs-venv/.installed
	NO_MKDOCS_2_WARNING=1 build/docs-venv/bin/mkdocs build
	@echo "The documentation is in build/site/index.html"

test-upstream: $(INSTALLED)
	$(BIN)/python tools/upstream_tests.py
	$(BIN)/python tools/patch_tests.py own

# All of aider's tests after every prefix of the patch series: long, and taken up again where it was stopped.
test-patches: $(INSTALLED)
	$(BIN)/python tools/patch_tests.py prefixes

# Two recorded sessions on aider with the fixes and with the whole series: by aider's own summaries, with every
# wrapper, with those that the series leaves, and with none. All prompts must be the same.
patches-replay: $(INSTALLED)
	$(BIN)/python tools/patches_replay.py

# The adapter's tests that hold conversations and name no version of aider, on releases of it, each in an
# environment of its own with its own dependencies: AIDERS="0.86.1 0.87.0", or all that were tried.
AIDERS ?= $(shell $(BIN)/python -c "from aider_gardener.adapters.aider.patch_points import TRIED; print(*TRIED)")
ADAPTER_TESTS := $(patsubst %,tests/adapters/aider/test_%.py,entry_commands install overflow prompt resume sending \
	way_back wrappers)
aider-versions: $(INSTALLED)
	@test -n "$(UV)" || { echo "make aider-versions needs uv (see docs/contributing.md)" >&2; exit 1; }
	for aider in $(AIDERS); do python=build/aider-$$aider/bin/python; \
		$(UV) venv --quiet --clear --python $(BIN)/python build/aider-$$aider && \
		$(UV) pip install --quiet --python $$python . aider-chat==$$aider hypothesis pytest pytest-timeout pytest-xdist && \
		$$python -m pytest -q -p no:cacheprovider $(ADAPTER_TESTS); echo "aider $$aider: exit $$?"; done

format: $(INSTALLED)
	$(BIN)/python -m ruff check --fix --exit-zero .
	$(BIN)/python -m ruff format .

# Every recorded session under every variant and budget, resumable; BENCH_FLAGS=--list says what is left to do.
# Then whether the default does harm: bench.dominance, which goes on where it was, too. Then all that quotes them.
bench: $(INSTALLED)
	$(BIN)/python -m bench.grid.run $(BENCH_FLAGS)
	$(BIN)/python -m bench.dominance $(filter --list,$(BENCH_FLAGS))
ifeq ($(findstring --list,$(BENCH_FLAGS)),)
	$(BIN)/python tools/benchmark_tables.py
endif

# New figures for the regression gate, after a change that is meant to alter them.
bench-gate: $(INSTALLED)
	$(BIN)/python -m bench.gate --write

# Times of every hot path; `python -m bench.micro_results build/bench/micro.json` keeps them. MICRO_FLAGS goes to
# pytest: --benchmark-autosave, then --benchmark-compare. MICRO_ENTRIES=1000000 takes an archive of a million
# entries (3 GB on disk with its copy; building it takes ten minutes and more).
bench-micro: $(INSTALLED)
	@mkdir -p build/bench
	$(BIN)/python -m pytest bench/micro --quiet --benchmark-columns=min,median,max,rounds \
		--benchmark-json build/bench/micro.json --benchmark-storage build/bench/micro $(MICRO_FLAGS) \
		$(if $(MICRO_ENTRIES),--entries $(MICRO_ENTRIES))

# Claude Code, Codex, OpenCode and Gemini themselves with what the gardener gives them, their models played by a
# server on this machine. It needs npm.
hosts: $(INSTALLED)
	npm install --silent --no-save --prefix build/hosts @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171 \
		opencode-ai@1.18 @google/gemini-cli@0.61
	REAL_HOSTS=$(CURDIR)/build/hosts/node_modules/.bin $(BIN)/python -m pytest -q tests/adapters/test_real_hosts.py

# Small faults put into the hard modules one by one, to see whether a test fails; resumable.
mutants: $(INSTALLED) build/mutants-venv/.installed
	build/mutants-venv/bin/python -m bench.mutants --python $(CURDIR)/$(BIN)/python $(MUTANTS_FLAGS)

build/mutants-venv/.installed: requirements/mutants.txt
	@mkdir -p build
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(if $(UV),--without-pip) $(@D)
	$(if $(UV),$(UV) pip install --quiet --python $(@D)/bin/python,$(@D)/bin/python -m pip install --quiet) -r $<
	@touch $@

build/docs-venv/.installed: requirements/docs.lock
	@mkdir -p build
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(if $(UV),--without-pip) $(@D)
ifneq ($(UV),)
	$(UV) pip sync --quiet --python $(@D)/bin/python $<
else
	$(@D)/bin/python -m pip install --quiet --requirement $<
endif
	@touch $@

# Each one file for every system: dev.lock for Python 3.10 to 3.12, docs.lock for 3.11 and 3.12.
# `make lock LOCK_FLAGS=--upgrade` takes newer releases.
COMPILE = $(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" --quiet $(LOCK_FLAGS)

lock:
	@test -n "$(UV)" || { echo "make lock needs uv (see docs/contributing.md)" >&2; exit 1; }
	$(COMPILE) pyproject.toml --extra dev --python-version 3.10 --output-file $(LOCK)
	$(COMPILE) requirements/docs.in --python-version 3.11 --output-file requirements/docs.lock
	@! grep -n '://' $(LOCK) requirements/docs.lock || { echo "a lock file names an address: it must not" >&2; exit 1; }

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks

# The stamp is newer than what it was made from, so nothing is installed twice.
$(INSTALLED): $(LOCK) pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.10, 3.11 or 3.12 found: install one, or name it: make PYTHON=/path/to/python" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(if $(UV),--without-pip) $(VENV) || { rm -rf $(VENV); exit 1; }
ifneq ($(UV),)
	$(UV) pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes $(LOCK)
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
else
	$(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
endif
	@touch $@
