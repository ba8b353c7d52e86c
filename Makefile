# otaflash: the commands of its developers. `make demo` and `make test` set up what they need.
# `make lab SHELL=1` asks for a shell in the guest; the recipes keep their own.
SHELL_IN_GUEST := $(if $(filter command line,$(origin SHELL)),$(SHELL))
override SHELL := /bin/bash
SWIFT ?= swift

.PHONY: demo build test kill-test test-receiver compare-receivers smp-oracle lab bench swarm replay sweep \
  fuzz format lint man clean deps

# Flashes a sample onto a simulated device, pulls the plug in the middle, and goes on.
demo: deps
	$(SWIFT) build --product otaflash
	Examples/demo.sh

build: deps
	$(SWIFT) build

# In the released configuration; CONFIGURATION=debug is quicker to build again after a change.
test:
	@tools/deps librsvg2-2
	Tests/run

# Kills a flashing process at 50 random moments and runs it again, both sides of it.
kill-test: build
	Tests/Kill/kill-nine --kills 50 .build/debug/otaflash
	Tests/Kill/kill-nine --kills 50 --device unix .build/debug/otaflash

# The device side alone, in C, under the sanitizers.
test-receiver: deps
	$(MAKE) -C Tests/ReceiverC test

# The SMP codec against that of the Python package smp, 1000 random messages of each kind, both ways;
# and an update of a device that is built on that package.
smp-oracle: deps
	$(SWIFT) build --product smp-codec
	$(SWIFT) build --product otaflash
	Tests/SMPOracle/run .build/debug/smp-codec
	Tests/SMPOracle/flash-device .build/debug/otaflash

# The receiver in C and the one in Python, written from the same document, driven alike at random.
compare-receivers: SEEDS = 20
compare-receivers: deps
	$(SWIFT) build --product otaflash
	python3 -B Tests/KernelLab/peers/compare_receivers.py .build/debug/otaflash $(SEEDS)

# The radio path in a real kernel with virtual controllers, under QEMU. ONLY=name runs one scenario,
# SHELL=1 gives a shell in the guest.
lab: deps
	ONLY='$(ONLY)' SHELL_IN_GUEST='$(SHELL_IN_GUEST)' Tests/KernelLab/run

# Measures the goals; DOCUMENT=docs/performance.md writes the table there too. Ten minutes at most.
bench: deps
	Benchmarks/run $(DOCUMENT)

# Days of bad luck, drawn from seeds 1…SEEDS; and one of them, told in full.
SEEDS ?= 10000
swarm: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seeds $(SEEDS)

replay: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seed $(SEED)

# The update of every sample, cut at every one of its PDUs, in both write modes; of every other kind of
# device; and a host's journal that lies.
sweep: build
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --cuts firmware-samples
	Tests/Kill/lying-journal .build/debug/otaflash

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
	shellcheck --severity=warning tools/deps Tests/run Tests/swift Examples/*.sh Benchmarks/run .ci/run \
	  Tests/KernelLab/{run,prepare,guest/session,guest/*.sh,peers/loaded}
	shellcheck --severity=warning --shell=bash --exclude=SC2034,SC2154 Tests/KernelLab/scenarios/*.sh

man:
	$(SWIFT) build --product otaflash
	man/generate .build/debug/otaflash man

# Installs the Debian packages that are missing.
deps:
	@tools/deps

clean:
	rm -rf .build
	$(MAKE) -C Tests/ReceiverC clean
