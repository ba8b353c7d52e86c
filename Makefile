# otaflash: the commands of its developers. `make demo` and `make test` set up what they need.
SHELL := /bin/bash
SWIFT ?= swift
DEB_PACKAGES := libbluetooth-dev zlib1g-dev make gcc libc6-dev

.PHONY: demo build test test-receiver bench format lint man clean deps

# Flashes a sample onto a simulated device, pulls the plug in the middle, and goes on.
demo: deps
	$(SWIFT) build --product otaflash
	Examples/demo.sh

build: deps
	$(SWIFT) build

test: deps
	Tests/run

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
	shellcheck Tests/run Examples/*.sh Benchmarks/run .ci/run

man:
	$(SWIFT) build --product otaflash
	man/generate .build/debug/otaflash man

# Installs the Debian packages that are missing; quiet when all are there.
deps:
	@missing=(); for p in $(DEB_PACKAGES); do \
	  dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing+=($$p); done; \
	if (($${#missing[@]})); then \
	  echo "installing $${missing[*]}"; \
	  run() { if [ "$$(id -u)" = 0 ]; then "$$@"; else sudo "$$@"; fi; }; \
	  run apt-get update -qq && \
	  run env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "$${missing[@]}" >/dev/null; \
	fi

clean:
	rm -rf .build
	$(MAKE) -C Tests/ReceiverC clean
