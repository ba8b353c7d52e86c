# otaflash: the commands of its developers. `make demo` and `make test` set up what they need.
SHELL := /bin/bash
SWIFT ?= swift
DEB_PACKAGES := libbluetooth-dev zlib1g-dev make gcc libc6-dev

.PHONY: demo build test test-receiver lab bench format lint man clean deps

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

# The radio path in a real kernel with virtual controllers, under QEMU. ONLY=name runs one scenario,
# SHELL=1 gives a shell in the guest.
lab: deps
	ONLY='$(ONLY)' SHELL_IN_GUEST='$(if $(filter command line,$(origin SHELL)),$(SHELL))' \
	  /bin/bash Tests/KernelLab/run

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
	man/generate

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
