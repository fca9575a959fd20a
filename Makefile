# The two that matter: make run, make test. Both install what they need into .venv and can be repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# the tests that coverage is counted over; tracing slows the others for nothing
BRUTE := tests/battery/test_generators_calculation.py tests/battery/test_generators_chance.py \
  tests/battery/test_generators_structure.py tests/measure/test_measure_coverage.py
COVERING := tests/battery tests/measure tests/elicit tests/runs tests/bridges $(addprefix --ignore=,$(BRUTE))
ROOMS := selfdiag/battery/*,selfdiag/measure/*,selfdiag/elicit/*,selfdiag/runs/*

# the rest of tests/tui goes through each screen in detail and takes minutes: make app-test
APP := $(addprefix tests/tui/test_,$(addsuffix .py,cases_terminal chart fast_keys item_filter shell snapshots))

.PHONY: run test lint types unit engine fuzz endurance soak app-test textual-test web-test inspect-check lm-eval-check mutants bench format lock audit-packages clean help

help:
	@echo "make run     install, then audit a small real model on this machine"
	@echo "make test    install, then run all checks"
	@echo "make app-test  walk through every screen of the terminal app (minutes)"
	@echo "make web-test  open the app and a report in a browser without a window (needs Chromium)"
	@echo "make inspect-check, make lm-eval-check  run the audit inside these tools and compare (minutes)"
	@echo "make fuzz    read and grade 200,000 hostile replies, and read 20,000 damaged files (minutes)"
	@echo "make endurance  what a run survives: kills, full disks, failing servers, large batteries (40 minutes)"
	@echo "make soak    press keys at random in the app for ten minutes, while a hostile model answers it"
	@echo "make textual-test  test the app with the oldest and the newest Textual (minutes)"
	@echo "make mutants  change the code that measures and reads in 300 places: do the tests see it? (half an hour)"
	@echo "make bench   measure every bar of speed (twenty minutes, on a machine with nothing else to do)"
	@echo "make format  put the code into the house form"
	@echo "make lock    renew the exact versions that the checks use"
	@echo "make audit-packages  ask the package index for known vulnerabilities of these versions"
	@echo "make clean   remove .venv and everything built"

run: $(VENV)/installed-to-run
	$(BIN)/selfdiag run embedded --battery quick
	$(BIN)/selfdiag report latest --format md -o report.md

# the engine keeps one core busy for a minute: the other tests need not wait for it
test: lint types
	$(MAKE) -j2 $(if $(filter output-sync,$(.FEATURES)),-O) unit engine

lint: $(VENV)/installed-to-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/selfdiag probes lint

types: $(VENV)/installed-to-test
	$(BIN)/mypy

unit: $(VENV)/installed-to-test
	rm -f .coverage .coverage.*
	$(BIN)/pytest -n 2 -m "not engine" --cov --cov-report= $(COVERING)
	$(BIN)/coverage report --fail-under=95 --include='$(ROOMS)'
	$(BIN)/pytest -n 2 -m "not engine" tests/cli tests/models tests/protocols tests/report $(APP) $(wildcard tests/test_*.py) $(BRUTE)

# the real engine: these tests run one after the other, as only one engine may run
engine: $(VENV)/installed-to-test
	$(BIN)/selfdiag pull embedded
	$(BIN)/pytest -m engine

fuzz: $(VENV)/installed-to-test
	$(BIN)/python tests/elicit/fuzz_reading.py --inputs 200000
	$(BIN)/python -m tests.fuzz.fuzz_files --inputs 20000

# QUICK=--quick makes it some minutes
endurance: $(VENV)/installed-to-test
	$(BIN)/python -m tests.endurance.all $(QUICK)

# another seed presses other keys: make soak SEED=2
SEED ?= 1
soak: $(VENV)/installed-to-test
	$(BIN)/python -m tests.endurance.soak_app --minutes 10 --seed $(SEED)

app-test: $(VENV)/installed-to-test
	$(BIN)/pytest -n 2 -m "not engine" tests/tui

# each version in an environment of its own, in a temporary folder
textual-test: $(VENV)/installed-to-test
	$(BIN)/python tests/tui/textual_versions.py

# needs Chromium on this machine
web-test: $(VENV)/installed-to-test
	$(BIN)/python tests/tui/web_check.py
	$(BIN)/python -m tests.report.web_check_report

# each makes an environment of its own in a temporary folder
inspect-check: $(VENV)/installed-to-test
	$(BIN)/python tests/bridges/inspect_check.py

lm-eval-check: $(VENV)/installed-to-test
	$(BIN)/python tests/bridges/lm_eval_check.py

# the same command goes on where it was interrupted
mutants: $(VENV)/installed-to-test
	nice -n 5 $(BIN)/python -m tests.mutation.sample

bench: $(VENV)/installed-to-test
	$(BIN)/python benchmarks/all.py --json bench.json

format: $(VENV)/installed-to-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(VENV)/installed-to-test
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header \
	  --python-version 3.11 --extra embedded --extra dev -o requirements/test.txt pyproject.toml

# in an environment of its own, in a temporary folder
audit-packages:
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  $(PYTHON) -m venv "$$folder" && \
	  "$$folder/bin/pip" install --quiet --disable-pip-version-check pip-audit && \
	  "$$folder/bin/pip-audit" --strict --require-hashes --disable-pip -r requirements/test.txt

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "selfdiag needs Python 3.11 or newer; name one with: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed-to-run: pyproject.toml | $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[embedded]"
	@touch $@

# exact versions with their hashes, so that a check that passes today passes tomorrow; Python compiles what it uses
$(VENV)/installed-to-test: pyproject.toml requirements/test.txt | $(VENV)/made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes \
	  -r requirements/test.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf $(VENV) build dist .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
