# Two commands do all the set-up: `make run` (the board in a browser) and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.run
DEV := $(VENV)/.dev

.PHONY: run test prove bench shots check clean

run: $(RUN)
	$(BIN)/morbak run --board sim --open

# Two halves side by side, as long as each other: browsers, an emulated chip and the installed service, told of at the
# end; and the rest.
OUTSIDE := browser or kiosk or pico or (vm and systemd)
test: check
	@$(BIN)/python -m pytest -m "$(OUTSIDE)" >$(VENV)/outside.log 2>&1 & outside=$$!; trap 'kill $$outside' INT TERM; \
	$(BIN)/python -m pytest -m "not ($(OUTSIDE))"; rest=$$?; \
	wait $$outside; failed=$$?; cat $(VENV)/outside.log; [ $$rest = 0 ] && { [ $$failed = 0 ] || [ $$failed = 5 ]; } # 5: none of it is here

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The long proofs in full: every random count as the issues ask for it.
prove: $(DEV)
	MORBAK_PROVE=1 $(BIN)/python -m pytest -m long -rA

bench: $(DEV)
	$(BIN)/python -m tests.bench

# Pictures of the page in every phase, size and language, into shots/.
shots: $(DEV)
	$(BIN)/python -m tests.shots shots

$(RUN): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install -q -e .
	touch $@

$(DEV): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --disable-pip-version-check install -q -e '.[dev]'
	touch $@ $(RUN)

clean:
	rm -rf $(VENV) build dist shots .pytest_cache .mypy_cache .ruff_cache .hypothesis
