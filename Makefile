# make demo | test | check | bench | notebooks — each sets up what it needs.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
READY := .venv/.ready
DEMO := datasets/mcp-servers

.PHONY: install demo test check bench notebooks clean

install: $(READY)

$(READY): requirements.lock pyproject.toml
	@echo "Setting up .venv (about three minutes the first time) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) "$$(grep -m1 '^torch==' requirements.lock)"
	@$(PIP) --no-deps --ignore-requires-python -r requirements.lock  # ctok is pure Python, and says 3.12
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY)
	@$(BIN)/toolkit compare $(DEMO)/sessions.atif.jsonl.gz --model claude-sonnet-4-5 --out reports/demo

test: $(READY)
	@$(BIN)/python -m pytest -n 2

check: $(READY)
	@$(BIN)/ruff check toolkit tests benchmarks datasets notebooks
	@$(BIN)/ruff format --check toolkit tests benchmarks datasets
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_floors.py

bench: $(READY)
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

notebooks: $(READY)
	@mkdir -p reports/notebooks
	@for book in notebooks/*.ipynb; do echo "== $$book"; \
	  $(BIN)/papermill --kernel python3 --log-level ERROR --no-progress-bar --cwd notebooks $$book reports/notebooks/$$(basename $$book) \
	    >reports/notebooks/log 2>&1 || { cat reports/notebooks/log; exit 1; }; done

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
