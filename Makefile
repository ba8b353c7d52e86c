# otaflash: the commands of its developers. `make demo` and `make test` set up what they need.
SHELL := /bin/bash
SWIFT ?= swift
DEB_PACKAGES := libbluetooth-dev zlib1g-dev make gcc libc6-dev

.PHONY: demo build test test-receiver bench swarm replay sweep fuzz format lint man clean deps

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

# Days of bad luck, drawn from seeds 1…SEEDS; and one of them, told in full.
SEEDS ?= 10000
swarm: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seeds $(SEEDS)

replay: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seed $(SEED)

# The update of every sample, cut at every one of its PDUs, in both write modes.
sweep: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --cuts firmware-samples

# Every decoder in turn, so many seconds each.
fuzz: SECONDS_EACH = $(if $(filter file command,$(origin SECONDS)),$(SECONDS),60)
fuzz:
	$(MAKE) --no-print-directory -C Fuzz fuzz SECONDS_EACH=$(SECONDS_EACH)

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
