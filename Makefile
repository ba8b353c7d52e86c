# The commands for developers of otaflash; `make help` lists them. `make demo` and `make test` install their
# requirements.
# `make lab SHELL=1` asks for a shell in the guest; the recipes keep their own.
SHELL_IN_GUEST := $(if $(filter command line,$(origin SHELL)),$(SHELL))
override SHELL := /bin/bash
SWIFT ?= swift

.PHONY: demo demo-fleet build test kill-test fleet-kill-test test-receiver compare-receivers smp-oracle lab \
  bench swarm replay sweep fleet-swarm fleet-patches report-page fuzz format style lint man clean deps client docs site-pages \
  troubleshooting picture soak real-files zip-oracle \
  delta-oracle help release-program install package package-test package-twice release

# Lists the commands, each with the first line of its comment in this file.
help:
	@awk '/^# / && !said { said = substr($$0, 3) } /^$$/ { said = "" } \
	  /^[a-z-]+:( [a-z]+)*$$/ && said { sub(":.*", ""); printf "make %-18s %s\n", $$0, said; said = "" }' \
	  $(firstword $(MAKEFILE_LIST))

# Flashes a sample onto a simulated device, cuts the power in the middle, and resumes.
demo: deps
	$(SWIFT) build --product otaflash
	Examples/demo.sh

# A campaign over forty simulated boards that is killed twice: its forecast, its end, and its report page.
# In the release configuration: the forecast simulates the campaign nine times.
demo-fleet: deps
	@tools/deps libsqlite3-dev
	$(SWIFT) build -c release --traits Fleet --product otaflash
	Examples/demo-fleet.sh

# The debug configuration, which is fast to rebuild; with campaigns (the trait Fleet).
build: deps
	$(SWIFT) build --traits Fleet

# All tests, in the release configuration; CONFIGURATION=debug is faster to rebuild after a change.
test:
	@tools/deps openssh-client minisign python3-prometheus-client
	Tests/run

# Kills the host or the device of an update at 50 random moments, and stops some processes for a long time.
# Each is restarted, or continues after more than the time limit of a transaction.
kill-test: build
	Tests/System/Kill/kill-nine --kills 50 .build/debug/otaflash
	Tests/System/Kill/kill-nine --kills 50 --device unix .build/debug/otaflash
	Tests/System/Kill/stop-and-go .build/debug/otaflash
	Tests/System/Kill/patch-kill .build/debug/otaflash

# Kills a campaign over fifty simulated boards at 200 random moments.
# Its result equals that of an undisturbed campaign, and its record is complete.
fleet-kill-test: build
	Tests/System/Kill/fleet-kill --kills 200 .build/debug/otaflash

# Hostile devices against the program, hostile hosts against its simulated device, for MINUTES.
# FIRST is the first seed.
MINUTES ?= 60
FIRST ?= 1
soak: deps
	$(SWIFT) build -c release --product otaflash
	Tests/System/Soak/soak --minutes $(MINUTES) --seed $(FIRST) .build/release/otaflash

# The device side in C, under the sanitizers.
test-receiver: deps
	$(MAKE) -C Tests/System/ReceiverC test

# Compares the SMP codec with the Python package smp, and updates a device built on that package.
# 1000 random messages of each kind, both ways.
smp-oracle: deps
	$(SWIFT) build --product smp-codec
	$(SWIFT) build --product otaflash
	Tests/System/SMPOracle/run .build/debug/smp-codec
	Tests/System/SMPOracle/flash-device .build/debug/otaflash

# Compares patches with those of the Python package detools: never larger, each applied by the other.
# The first run builds a small Cortex-M firmware a dozen times.
delta-oracle:
	@tools/deps gcc-arm-none-eabi
	$(SWIFT) build -c release --product delta-codec
	$(SWIFT) build -c release --product otaflash
	Tests/System/DeltaOracle/run .build/release/delta-codec
	"$$(Tests/System/DeltaOracle/environment)" -B Tests/System/DeltaOracle/protocol.py .build/release/otaflash \
	  .build/release/delta-codec

# Compares the receivers in C and in Python, written from the same document, with the same random input.
compare-receivers: SEEDS = 20
compare-receivers: deps
	$(SWIFT) build --product otaflash
	python3 -B Tests/System/KernelLab/peers/compare_receivers.py .build/debug/otaflash $(SEEDS)

# The radio path in a real kernel with virtual controllers; ONLY=name runs one scenario.
# SHELL=1 gives a shell in the guest.
lab: deps
	ONLY='$(ONLY)' SHELL_IN_GUEST='$(SHELL_IN_GUEST)' Tests/System/KernelLab/run

# Measures the goals; DOCUMENT=docs/performance.md also writes the table there. At most ten minutes.
bench: deps
	Benchmarks/run $(DOCUMENT)

# Updates over faulty links and devices, from seeds 1…SEEDS.
SEEDS ?= 10000
swarm: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seeds $(SEEDS)

# One seed of the swarm, SEED=n, with its complete log.
replay: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seed $(SEED)

# A campaign over DEVICES simulated boards: time, memory, and a comparison with the state of each board.
DEVICES ?= 10000
fleet-swarm: deps
	$(SWIFT) build -c release --product fleet-swarm
	.build/release/fleet-swarm $(DEVICES)

# The gain of patches for twenty boards on one adapter.
fleet-patches: deps
	$(SWIFT) build -c release --product fleet-swarm
	.build/release/fleet-swarm --patches

# The report's page in Chromium, in every width, theme and on paper, with hostile names of devices.
# PICTURES=folder stores screenshots.
report-page:
	@tools/deps chromium libxml2-utils fonts-dejavu-core
	$(SWIFT) build --traits Fleet -c release --product report-samples
	PICTURES='$(PICTURES)' Tests/System/FleetReportPage/run .build/release/report-samples

# Cuts the update of every sample and kind of device at every PDU, and restarts with damaged journals of the host.
sweep: build
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --cuts firmware-samples
	Tests/System/Kill/lying-journal .build/debug/otaflash

# Files of the usual tools (linkers, srec_cat, intelhex, imgtool).
real-files: deps
	$(SWIFT) build --product otaflash
	Tests/System/RealFiles/run .build/debug/otaflash

# Compares the reader for ZIP archives with Python's and Info-ZIP's, on archives generated from a seed.
zip-oracle: COUNT = 1000
zip-oracle: deps
	$(SWIFT) build --product zip-reader
	python3 -B Tests/System/ZipOracle/compare.py .build/debug/zip-reader $(COUNT)

# Fuzzes every decoder, and the host's side of every protocol, for SECONDS each.
fuzz: SECONDS_EACH = $(if $(filter file command,$(origin SECONDS)),$(SECONDS),60)
fuzz: deps
	$(MAKE) --no-print-directory -j $$(nproc) -C Fuzz fuzz SECONDS_EACH=$(SECONDS_EACH)

# Formats the Swift sources.
SWIFT_FILES := Package.swift Sources Tests Examples Benchmarks Fuzz/Targets Fuzz/Support
format:
	$(SWIFT) format --in-place --recursive --configuration .swift-format $(SWIFT_FILES)

# Reports the changes that `format` would make, and violations that it cannot fix.
style:
	$(SWIFT) format lint --strict --recursive --configuration .swift-format $(SWIFT_FILES)

# Runs `style`, and shellcheck on the scripts.
lint: style
	shellcheck --severity=warning tools/deps tools/docs tools/site/make tools/build-release tools/install tools/package tools/release Tests/System/Package/{run,twice} Tests/run Tests/swift Tests/System/Client/run Tests/System/FleetReportPage/run Examples/*.sh Benchmarks/run .ci/run \
	  Tests/System/KernelLab/{run,prepare,guest/session,guest/*.sh,peers/loaded}
	shellcheck --severity=warning --shell=bash --exclude=SC2034,SC2154 Tests/System/KernelLab/scenarios/*.sh

# Writes the manual from the program's help.
man:
	$(SWIFT) build --product otaflash
	man/generate .build/debug/otaflash man

# Builds and tests an app that uses only the products of the package (Tests/System/Client).
client: deps
	Tests/System/Client/run

# Builds one site of all documents, the manual and the libraries, in .build/site, to read from disk.
# The libraries' DocC archives are in .build/documentation; docs/api is compared with the public API.
docs: deps
	@tools/deps mandoc python3-markdown-it python3-pygments
	tools/docs
	tools/site/make

# Checks that site in Chromium, from disk: every page and link, two widths, search.
# PICTURES=folder stores screenshots.
site-pages: docs
	@tools/deps chromium fonts-dejavu-core
	python3 -B Tests/System/SitePages/browse.py .build/site $(PICTURES)

# Writes docs/troubleshooting.md and DIAGNOSTICS in otaflash(1) from the table of error codes.
troubleshooting:
	WRITE_DOCUMENTS=1 Tests/run --filter ExplanationTests

# Draws the picture of README from a run.
picture:
	$(SWIFT) build --product otaflash
	tools/picture .build/debug/otaflash docs/flash.svg

# Builds the released program, with the Swift runtime in it: .build-release/release/otaflash.
release-program: deps
	tools/build-release

# Installs the released program, its manual, completions and documents; PREFIX, DESTDIR as usual.
# PROGRAM=path installs another program.
install:
	tools/install

# Builds a Debian package of it, in .build-release/package; the symbols are in a separate package.
package: deps
	@tools/deps debhelper fakeroot
	tools/package

# Tests the package in a bare Debian without Swift: install, use, upgrade, purge; lintian before.
package-test:
	@tools/deps debootstrap lintian tmux
	Tests/System/Package/run .build-release/package

# Builds the package twice from scratch, in two folders, and compares all bytes.
package-twice: deps
	@tools/deps debhelper fakeroot diffoscope-minimal
	Tests/System/Package/twice

# Creates a release, VERSION=x.y.z: changelog, version, a commit, and the text of its tag.
release:
	tools/release $(VERSION)

# Installs missing Debian packages.
deps:
	@tools/deps

# Removes all build output.
clean:
	rm -rf .build
	$(MAKE) -C Tests/System/ReceiverC clean
