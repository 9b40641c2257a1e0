# make demo     the main job, start to end, on a fresh folder
# make examples programs' own stores: a folder of CSV files, a web service; each is checked by CoreDataStoreTests
# make test     every test (debug); MODULE=CoreDataGraph for those of one module, which builds what they need and no more
# make macros   the macros' package: built with swift-syntax, tested
# make macro-twins  real models declared by macros have the hashes of their drawn twins; needs the folder of real models
# make store-table  every test that runs over kinds of stores, and what it came to with each kind
# make soak     the same with the slow suites, and without the check for off-queue access, as in release builds; then make threads
# make threads  tests of code that runs on several threads, under ThreadSanitizer
# make bench    the benchmarks (release), writes Benchmarks/RESULTS.md; ROWS=… ROUNDS=… for more, BENCH="--suite oo7" for a part
# make compat   writes COMPATIBILITY.md
# make fuzz     ten minutes of fuzzing the predicates; SECONDS=60 FUZZERS="text tree archive sql" for less
# make lint     style and documents, changes nothing
# make format   reformats the sources
#
# Each does its own set-up (scripts/setup) on a Debian-like machine that has Swift.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo examples test macros macro-twins store-table soak threads bench compat fuzz lint format clean stores

SWIFT ?= swift
# SwiftPM keeps its plan of a build until the root package changes; without this option packages that depend
# on the library would not see files added to it.
FRESH := --disable-build-manifest-caching
# Folders of our own; never a build folder.
SOURCES := Package.swift Sources Tests \
  $(wildcard Benchmarks/Package.swift Benchmarks/Sources) \
  $(wildcard Fuzz/Package.swift Fuzz/Sources/FuzzTargets Fuzz/Sources/FuzzSQL Fuzz/Sources/fuzz-*) \
  $(wildcard Macros/Package.swift Macros/Sources Macros/Tests) \
  $(wildcard Examples/*/Package.swift Examples/*/Sources)

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

setup:
	@scripts/setup

demo: setup
	@SWIFT="$(SWIFT)" scripts/demo

examples: setup
	$(SWIFT) run --package-path Examples/CSVStore --scratch-path .build-demo $(FRESH) csv-store
	$(SWIFT) run --package-path Examples/WebStore --scratch-path .build-demo $(FRESH) web-store

test: setup
ifdef MODULE
	@[ -d Tests/$(MODULE)Tests ] || { echo "There are no tests of $(MODULE). There are those of:" \
	  $(patsubst Tests/%Tests,%,$(wildcard Tests/*Tests)); exit 2; }
	CLARUS_MODULE=$(MODULE) $(SWIFT) build --product clarusPackageTests
	@CLARUS_MODULE=$(MODULE) scripts/watched 20 $(SWIFT) test --skip-build --disable-xctest
else
	$(SWIFT) build --build-tests
	@scripts/watched 45 $(SWIFT) test --skip-build --disable-xctest
endif

# A package of its own: nobody else builds swift-syntax.
macros: setup
	$(SWIFT) build --build-tests --package-path Macros --scratch-path .build-macros $(FRESH)
	@scripts/watched 10 $(SWIFT) test --package-path Macros --scratch-path .build-macros --skip-build --disable-xctest

# The classes are written from models that are not part of the repository, so they are not either.
TWINS := --package-path Macros --scratch-path .build-macros
macro-twins: export CLARUS_TWINS := 1
macro-twins: setup
	$(SWIFT) run $(TWINS) $(FRESH) DrawnTwinSource $(or $(CLARUS_FIXTURES),../shared/fixtures) \
	  Macros/Tests/DrawnTwinTests/Generated.swift
	$(SWIFT) build --build-tests $(TWINS) $(FRESH)
	$(SWIFT) test $(TWINS) --skip-build --disable-xctest --filter '^DrawnTwinTests\.'

# The suites that run over all kinds, and the conformance suite.
store-table: setup
	$(SWIFT) build --build-tests
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	  $(SWIFT) test --skip-build --disable-xctest $$(scripts/store-table --filters) > "$$log" 2>&1; \
	  scripts/store-table "$$log"

soak: setup
	$(SWIFT) build --build-tests
	@CLARUS_SOAK=1 CLARUS_CONCURRENCY_DEBUG=0 scripts/watched 120 $(SWIFT) test --skip-build --disable-xctest
	$(MAKE) --no-print-directory threads

# One test at a time: the sanitizer makes each some ten times slower, and tests that wait for one another would run out of threads.
SANITIZED := --skip-build --sanitize thread --scratch-path .build-tsan --disable-xctest --no-parallel

threads: setup
	$(SWIFT) build --build-tests --sanitize thread --scratch-path .build-tsan
	@CLARUS_SOAK=1 scripts/watched 30 $(SWIFT) test $(SANITIZED) --filter '^CoreDataGraphTests\.ThreadTests'
	@scripts/watched 120 $(SWIFT) test $(SANITIZED) --filter '^(CoreDataTests|CoreDataGraphTests|CoreDataSQLiteTests|CoreDataStorageTests)\.'

bench: setup
	$(SWIFT) build -c release --package-path Benchmarks --scratch-path .build-bench $(FRESH)
	.build-bench/release/clarus-bench $(if $(ROWS),--rows $(ROWS)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
	  --python "$$(Benchmarks/Python/setup || true)" $(if $(BENCH),$(BENCH),--results Benchmarks/RESULTS.md)

compat:
	@scripts/setup compat
	SWIFT="$(SWIFT)" scripts/compatibility

fuzz: setup
	@SWIFT="$(SWIFT)" scripts/fuzz $(or $(SECONDS),600) $(FUZZERS)

# Writes the small store that ships with the project anew.
stores: setup
	$(SWIFT) build --package-path Examples/ToDo --scratch-path .build-demo $(FRESH) --product make-stores
	.build-demo/debug/make-stores Examples/Stores

lint:
	@$(SWIFT) format lint --strict --parallel -r $(SOURCES)
	@scripts/check-documents
	@git ls-files -z "*.swift" | xargs -0 scripts/check-lines
	@scripts/check-sql

format:
	@$(SWIFT) format --in-place --parallel -r $(SOURCES)

clean:
	rm -rf .build .build-*
