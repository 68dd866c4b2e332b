# The short commands. CMake does the work; everything else is in CMakeLists.txt and CMakePresets.json.
.DEFAULT_GOAL := help
.PHONY: help setup build web demo check test test-integrations test-mutations test-sdist test-asan test-tsan coverage fuzz bench format lint reference docs package wheel wheels sdist recipes install clean

# gcc or clang, the default versions of Debian 12; clang has a build folder of its own.
COMPILER ?= gcc
ifeq ($(COMPILER),gcc)
BUILD  ?= build
else ifeq ($(COMPILER),clang)
BUILD  ?= build-clang
CLANG   = -DCMAKE_CXX_COMPILER=clang++
else
$(error COMPILER is $(COMPILER), but must be gcc or clang)
endif
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
# SETUP=true installs no packages.
SETUP  ?= scripts/setup.sh$(if $(CLANG), --clang)

CCACHE    := $(shell command -v ccache 2>/dev/null)
LAUNCHER   = $(if $(CCACHE),-DCMAKE_CXX_COMPILER_LAUNCHER=$(CCACHE))
CONFIGURE  = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release \
             $(CLANG) $(LAUNCHER)
COMPILE    = cmake --build $(BUILD) --parallel $(JOBS)
# A new build folder has no tests, since their packages may be missing; an existing folder keeps its setting.
KEEP_TESTS = $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DKANDINSKY_BUILD_TESTS=OFF)
SOURCES    = $(shell find $(wildcard src include tests bench fuzz python/src) -name '*.cpp' -o -name '*.hpp')

help:  ## print this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  %-14s  %s\n", $$1, $$2 }'

setup:  ## install the Debian packages the build needs
	@$(SETUP)

build: setup  ## build the library and the command: build/bin/kandinsky
	@$(CONFIGURE) $(KEEP_TESTS)
	@$(COMPILE) --target kandinsky kandinsky_cli

web:  ## build the command with the HTML report (needs nodejs, npm and access to npm's packages)
	@$(SETUP) --report
	@$(CONFIGURE) $(KEEP_TESTS) -DKANDINSKY_WEB=ON
	@$(COMPILE) --target kandinsky_cli

demo:  ## run all steps on scenes that the program draws, with the report
	@$(SETUP) --report
	@$(CONFIGURE) $(KEEP_TESTS)
	@$(COMPILE) --target kandinsky kandinsky_cli
	$(BUILD)/bin/kandinsky demo -o $(BUILD)/demo

check:  ## build what changed and run the tests that find most mistakes, in at most three minutes after the build
	@$(SETUP) --check
	@$(CONFIGURE) -DKANDINSKY_BUILD_TESTS=ON
	@$(COMPILE) --target check_programs
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS) -L '^check$$'
	@echo "These were the quick tests. make test runs all of them."

test:  ## build everything and run every test (COMPILER=clang: in build-clang)
	@$(SETUP) --tests
	@$(CONFIGURE) -DKANDINSKY_BUILD_TESTS=ON
	@$(COMPILE)
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

test-integrations: build  ## sets inside torch, onnxruntime and OpenVINO, in an environment of their own (a large download)
	@/usr/bin/python3 tests/python/environment.py integrations $(BUILD) .

test-mutations: build  ## 10,000 damaged inputs through the command (make test has the first 1,500)
	@KANDINSKY_COMMAND=$(abspath $(BUILD))/bin/kandinsky KANDINSKY_MUTATIONS=10000 PYTHONDONTWRITEBYTECODE=1 \
	    /usr/bin/python3 -m pytest -q -s -p no:cacheprovider tests/faults/test_mutated.py

test-asan:  ## the tests under the address and undefined-behaviour sanitizers
	$(call TEST_PRESET,asan)

test-tsan:  ## the tests under the thread sanitizer
	$(call TEST_PRESET,tsan)

GCOVR = gcovr --root . --filter src/ --exclude-throw-branches --exclude-unreachable-branches -j $(JOBS)
coverage:  ## lines and branches of src/ that the tests run: build-coverage/coverage.csv and coverage/index.html
	@$(SETUP) --tests
	@$(SETUP) --coverage
	@cmake --preset coverage $(LAUNCHER)
	@cmake --build --preset coverage --parallel $(JOBS)
	@find build-coverage -name '*.gcda' -delete
	@taskset -c 0 ctest --preset coverage
	@mkdir -p build-coverage/coverage
	@$(GCOVR) --csv build-coverage/coverage.csv --html-details build-coverage/coverage/index.html --print-summary build-coverage

define TEST_PRESET
	@$(SETUP) --tests
	@cmake --preset $(1) $(LAUNCHER)
	@cmake --build --preset $(1) --parallel $(JOBS)
	@ctest --preset $(1) -j $(JOBS)
endef

RUNS    ?= 1000000
SECONDS ?= 900
fuzz:  ## fuzz the readers, the options and the flow, each until RUNS or SECONDS is reached (TARGETS="npy png")
	@$(SETUP) --fuzz
	@cmake --preset fuzz $(LAUNCHER)
	@cmake --build --preset fuzz --parallel $(JOBS) --target fuzz_targets
	@fuzz/run.sh build-fuzz $(RUNS) $(SECONDS) $(TARGETS)

BENCH_VENV ?= $(BUILD)/bench-venv
bench:  ## time the tasks against numpy, torch and others: one table (BENCH="--large" for more, see bench/run.py)
	@$(SETUP) --bench
	@$(CONFIGURE) $(KEEP_TESTS) -DKANDINSKY_BUILD_BENCH=ON
	@$(COMPILE)
	@test -x $(BENCH_VENV)/bin/python || python3 -m venv $(BENCH_VENV)
	@for package in $$(sed '/^#/d' bench/requirements.txt); do \
	    $(BENCH_VENV)/bin/pip install -q $$package || echo "cannot install $$package: its rows will be missing"; done
	@$(BENCH_VENV)/bin/python bench/run.py --build $(BUILD) $(BENCH)
	@$(BENCH_VENV)/bin/python bench/default_path.py --build $(BUILD)
	@echo "== $(BUILD)/bin/validity"; \
	if [ -n "$(DATA)" ]; then $(BUILD)/bin/validity $(DATA) --quick; \
	else echo "skipped: it needs real outputs; run make bench DATA=FOLDER (bench/validity.cpp describes the folder)"; fi

BIOME = cd web && npm exec --yes --package=@biomejs/biome@2.6.7 -- biome
format:  ## format the C++ sources (.clang-format) and the page's TypeScript (web/biome.json)
	@$(SETUP) --lint
	@$(SETUP) --report
	@clang-format -i $(SOURCES)
	@$(BIOME) format --write .

lint:  ## check the format, Biome's rules for the page, and clang-tidy (.clang-tidy) for what changed in src since it passed
	@$(SETUP) --lint
	@$(SETUP) --report
	@clang-format --dry-run -Werror $(SOURCES)
	@$(BIOME) ci .
	@cmake --preset dev -DKANDINSKY_BUILD_TESTS=OFF -DKANDINSKY_WEB=OFF -B $(BUILD)-lint >/dev/null
	@scripts/tidy.py $(BUILD)-lint $(JOBS)

reference: build  ## generate docs/cli.md, the man page and the completions from the command's help
	@scripts/cli_reference.py $(BUILD)/bin/kandinsky > docs/cli.md
	@scripts/man_page.py $(BUILD)/bin/kandinsky > man/kandinsky.1
	@scripts/completions.py $(BUILD)/bin/kandinsky > completions/kandinsky.bash

docs:  ## the documentation as a site, build/docs/html/index.html; warnings are errors
	@$(SETUP) --docs
	@scripts/docs.py $(BUILD)

package:  ## Debian packages of the command, the library and the networks, below build/; lintian checks them
	@$(SETUP) --package
	@$(CONFIGURE) $(KEEP_TESTS)
	@$(COMPILE) --target packaged
	@rm -f $(BUILD)/*.deb
	@cd $(BUILD) && cpack --config CPackConfig.cmake
	@if command -v lintian >/dev/null; then scripts/lint_packages.sh $(BUILD)/*.deb; \
	else echo "lintian is not installed, so the packages were not checked"; fi

wheel:  ## a Python wheel below build/wheel, tried in a fresh environment
	@$(SETUP) --wheel
	@scripts/wheel.py $(BUILD)

PYTHONS ?= 3.10 3.11 3.12 3.13
wheels:  ## wheels for PYTHONS (3.10 to 3.13) below build/wheels, each tried in a fresh environment
	@$(SETUP) --wheel
	@scripts/wheel.py $(BUILD) $(PYTHONS)

sdist:  ## a source distribution of the Python package below build/sdist, with the report's page built
	@$(SETUP) --wheel
	@$(SETUP) --report
	@$(CONFIGURE) $(KEEP_TESTS) -DKANDINSKY_WEB=ON
	@$(COMPILE) --target report_page
	@mkdir -p web/dist && cp $(BUILD)/web/dist/index.html web/dist/
	@scripts/sdist.py $(BUILD) $(TRY)

test-sdist:  ## install the source distribution in a fresh environment without Node, and use it there
	@$(MAKE) --no-print-directory sdist TRY=--try

recipes: sdist  ## recipes for Conan and conda with the source distribution, below build/recipes; tests Conan's
	@scripts/recipes.py $(BUILD)

install: build  ## install below PREFIX (default /usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:  ## remove the build folders
	rm -rf $(BUILD) build-dev build-release build-asan build-tsan build-fuzz build-lint build-clang build-clang-lint build-coverage build-abi
