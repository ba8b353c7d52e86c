# otaflash: the commands of its developers. `make demo` and `make test` set up what they need.
SHELL := /bin/bash
SWIFT ?= swift

.PHONY: demo build test kill-test test-receiver bench format lint man clean deps

# Flashes a sample onto a simulated device, pulls the plug in the middle, and goes on.
demo: deps
	$(SWIFT) build --product otaflash
	Examples/demo.sh

build: deps
	$(SWIFT) build

test: deps
	Tests/run

# Kills a flashing process at 50 random moments and runs it again, both sides of it.
kill-test: build
	Tests/Kill/kill-nine --kills 50 .build/debug/otaflash
	Tests/Kill/kill-nine --kills 50 --device unix .build/debug/otaflash

# The device side alone, in C, under the sanitizers.
test-receiver: deps
	$(MAKE) -C Tests/ReceiverC test

bench: deps
	$(SWIFT) build -c release --product otaflash
	Benchmarks/run

format:
	$(SWIFT) format --in-place --recursive --configuration .swift-format \
	  Package.swift Sources Tests Examples

lint:
	$(SWIFT) format lint --strict --recursive --configuration .swift-format \
	  Package.swift Sources Tests Examples
	shellcheck tools/deps Tests/run Examples/*.sh Benchmarks/run .ci/run

man:
	man/generate

# Installs the Debian packages that are missing.
deps:
	@tools/deps

clean:
	rm -rf .build
	$(MAKE) -C Tests/ReceiverC clean
