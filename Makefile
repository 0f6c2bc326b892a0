# vivace's front door. Each target installs what is missing, then does its work.
SHELL := /bin/bash
MODEL ?=
PROMPT ?= Why is the sky blue? Answer in two sentences.
# As given: a dollar sign in a question is no variable of make's.
override MODEL := $(value MODEL)
override PROMPT := $(value PROMPT)
export MODEL PROMPT

.DEFAULT_GOAL := help
.PHONY: help setup build run serve test bench lint asan tsan clean

help:
	@echo "make run    chat in the terminal; MODEL= picks a model; without a terminal PROMPT= is answered"
	@echo "make serve  the server on http://127.0.0.1:8080; MODEL= picks a model"
	@echo "make test   every test; the last line counts them"
	@echo "make build  the release build: build/release/vivace"
	@echo "make bench  benchmarks of the modules and of the engine, with a page; MODEL= picks a model"
	@echo "make lint   format, clang-tidy on changed files, layout, complexity"
	@echo "make asan   unit tests under address and undefined-behaviour sanitizers"
	@echo "make tsan   unit tests under the thread sanitizer"
	@echo "make setup  only install what is missing; make clean removes build/"

setup:
	@tools/setup.sh run

build: setup
	@tools/build.sh release

run: setup
	@tools/build.sh release vivace
	@if [ -t 0 ]; then exec build/release/vivace run $${MODEL:+"$$MODEL"}; \
	else exec build/release/vivace run $${MODEL:+"$$MODEL"} --timings --prompt="$$PROMPT" </dev/null; fi

serve: setup
	@tools/build.sh release vivace
	@exec build/release/vivace serve $${MODEL:+"$$MODEL"}

test:
	@tools/setup.sh test
	@tools/venv.sh test
	@python3 tools/run_tests.py

bench: setup
	@tools/build.sh release benches vivace
	@tools/run_benches.sh

lint:
	@tools/setup.sh lint
	@tools/venv.sh lint
	@tools/lint.sh

asan tsan: setup
	@tools/build.sh $@
	@ctest --preset $@ -j "$$(nproc)" -LE 'hygiene|slow'

clean:
	rm -rf build
