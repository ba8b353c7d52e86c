# otaflash: the commands of its developers, which `make help` lists. `make demo` and `make test` set up
# what they need.
# `make lab SHELL=1` asks for a shell in the guest; the recipes keep their own.
SHELL_IN_GUEST := $(if $(filter command line,$(origin SHELL)),$(SHELL))
override SHELL := /bin/bash
SWIFT ?= swift

.PHONY: demo demo-fleet build test kill-test fleet-kill-test test-receiver compare-receivers smp-oracle lab \
  bench swarm replay sweep fleet-swarm fleet-patches report-page fuzz format style lint man clean deps client docs site-pages \
  troubleshooting picture soak real-files zip-oracle \
  delta-oracle help release-program install package package-test package-twice release

# What there is, with the first line of what is said of it here.
help:
	@awk '/^# / && !said { said = substr($$0, 3) } /^$$/ { said = "" } \
	  /^[a-z-]+:( [a-z]+)*$$/ && said { sub(":.*", ""); printf "make %-18s %s\n", $$0, said; said = "" }' \
	  $(firstword $(MAKEFILE_LIST))

# Flashes a sample onto a simulated device, pulls the plug in the middle, and goes on.
demo: deps
	$(SWIFT) build --product otaflash
	Examples/demo.sh

# A campaign over forty simulated boards that is killed twice: its forecast, its end, and a page about it.
# In the released configuration: the forecast simulates the campaign nine times.
demo-fleet: deps
	@tools/deps libsqlite3-dev
	$(SWIFT) build -c release --traits Fleet --product otaflash
	Examples/demo-fleet.sh

# The debug configuration, which is quick to build again; with campaigns (the trait Fleet).
build: deps
	$(SWIFT) build --traits Fleet

# In the released configuration; CONFIGURATION=debug is quicker to build again after a change.
test:
	@tools/deps openssh-client minisign python3-prometheus-client
	Tests/run

# Kills a flashing process at 50 random moments, either side of it, and stops some for long.
# They are run again, or go on after longer than a transaction may take.
kill-test: build
	Tests/Kill/kill-nine --kills 50 .build/debug/otaflash
	Tests/Kill/kill-nine --kills 50 --device unix .build/debug/otaflash
	Tests/Kill/stop-and-go .build/debug/otaflash
	Tests/Kill/patch-kill .build/debug/otaflash

# Kills a campaign over fifty simulated boards at 200 random moments.
# It comes to what it comes to when nobody kills it, and its record is whole.
fleet-kill-test: build
	Tests/Kill/fleet-kill --kills 200 .build/debug/otaflash

# Hostile devices against the program, hostile hosts against its simulated device, for MINUTES.
# FIRST is the first seed.
MINUTES ?= 60
FIRST ?= 1
soak: deps
	$(SWIFT) build -c release --product otaflash
	Tests/Soak/soak --minutes $(MINUTES) --seed $(FIRST) .build/release/otaflash

# The device side alone, in C, under the sanitizers.
test-receiver: deps
	$(MAKE) -C Tests/ReceiverC test

# The SMP codec against that of the Python package smp, and an update of a device built on it.
# 1000 random messages of each kind, both ways.
smp-oracle: deps
	$(SWIFT) build --product smp-codec
	$(SWIFT) build --product otaflash
	Tests/SMPOracle/run .build/debug/smp-codec
	Tests/SMPOracle/flash-device .build/debug/otaflash

# Our patches against those of the Python package detools: never larger, each applied by the other.
# Builds a small Cortex-M firmware a dozen times, the first time.
delta-oracle:
	@tools/deps gcc-arm-none-eabi
	$(SWIFT) build -c release --product delta-codec
	$(SWIFT) build -c release --product otaflash
	Tests/DeltaOracle/run .build/release/delta-codec
	"$$(Tests/DeltaOracle/environment)" -B Tests/DeltaOracle/protocol.py .build/release/otaflash \
	  .build/release/delta-codec

# The receiver in C and the one in Python, written from the same document, driven alike at random.
compare-receivers: SEEDS = 20
compare-receivers: deps
	$(SWIFT) build --product otaflash
	python3 -B Tests/KernelLab/peers/compare_receivers.py .build/debug/otaflash $(SEEDS)

# The radio path in a real kernel with virtual controllers; ONLY=name runs one scenario.
# SHELL=1 gives a shell in the guest.
lab: deps
	ONLY='$(ONLY)' SHELL_IN_GUEST='$(SHELL_IN_GUEST)' Tests/KernelLab/run

# Measures the goals; DOCUMENT=docs/performance.md writes the table there too. Ten minutes at most.
bench: deps
	Benchmarks/run $(DOCUMENT)

# Days of bad luck, drawn from seeds 1…SEEDS.
SEEDS ?= 10000
swarm: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seeds $(SEEDS)

# One seed of the swarm, SEED=n, told in full.
replay: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seed $(SEED)

# A campaign over so many simulated boards: its time, its memory, and whether each board agrees.
DEVICES ?= 10000
fleet-swarm: deps
	$(SWIFT) build -c release --product fleet-swarm
	.build/release/fleet-swarm $(DEVICES)

# What patches are worth to twenty boards on one adapter.
fleet-patches: deps
	$(SWIFT) build -c release --product fleet-swarm
	.build/release/fleet-swarm --patches

# The report's page in Chromium, in every width, theme and on paper, with hostile names of devices.
# PICTURES=folder keeps what was seen.
report-page:
	@tools/deps chromium libxml2-utils fonts-dejavu-core
	$(SWIFT) build --traits Fleet -c release --product report-samples
	PICTURES='$(PICTURES)' Tests/FleetReportPage/run .build/release/report-samples

# The update of every sample and kind of device, cut at every PDU; and a host's journal that lies.
sweep: build
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --cuts firmware-samples
	Tests/Kill/lying-journal .build/debug/otaflash

# Files made by the tools that everybody makes them with (linkers, srec_cat, intelhex, imgtool).
real-files: deps
	$(SWIFT) build --product otaflash
	Tests/RealFiles/run .build/debug/otaflash

# The reader for ZIP archives against Python's and Info-ZIP's, on archives drawn from a seed.
zip-oracle: COUNT = 1000
zip-oracle: deps
	$(SWIFT) build --product zip-reader
	python3 -B Tests/ZipOracle/compare.py .build/debug/zip-reader $(COUNT)

# Every decoder, and the host's side of every protocol, so many seconds each.
fuzz: SECONDS_EACH = $(if $(filter file command,$(origin SECONDS)),$(SECONDS),60)
fuzz: deps
	$(MAKE) --no-print-directory -j $$(nproc) -C Fuzz fuzz SECONDS_EACH=$(SECONDS_EACH)

# Formats the Swift sources.
SWIFT_FILES := Package.swift Sources Tests Examples Benchmarks Fuzz/Targets Fuzz/Support
format:
	$(SWIFT) format --in-place --recursive --configuration .swift-format $(SWIFT_FILES)

# Says what `format` would change, and what it cannot change but .swift-format forbids.
style:
	$(SWIFT) format lint --strict --recursive --configuration .swift-format $(SWIFT_FILES)

# What `style` says, and what shellcheck says of the scripts.
lint: style
	shellcheck --severity=warning tools/deps tools/docs tools/site/make tools/build-release tools/install tools/package tools/release Tests/Package/{run,twice} Tests/run Tests/swift Tests/Client/run Tests/FleetReportPage/run Examples/*.sh Benchmarks/run .ci/run \
	  Tests/KernelLab/{run,prepare,guest/session,guest/*.sh,peers/loaded}
	shellcheck --severity=warning --shell=bash --exclude=SC2034,SC2154 Tests/KernelLab/scenarios/*.sh

# Writes the manual anew from the program's help.
man:
	$(SWIFT) build --product otaflash
	man/generate .build/debug/otaflash man

# An app that depends on the package by its products alone (Tests/Client), built and tested.
client: deps
	Tests/Client/run

# One site of all documents, the manual and the libraries, in .build/site, to be read from disk.
# The libraries' DocC archives are in .build/documentation; docs/api is compared with what is public.
docs: deps
	@tools/deps mandoc python3-markdown-it python3-pygments
	tools/docs
	tools/site/make

# That site in Chromium, from disk: every page and link, two widths, search.
# PICTURES=folder keeps what was seen.
site-pages: docs
	@tools/deps chromium fonts-dejavu-core
	python3 -B Tests/SitePages/browse.py .build/site $(PICTURES)

# Writes docs/troubleshooting.md anew from the explanations of the errors' codes.
troubleshooting:
	WRITE_DOCUMENTS=1 Tests/run --filter ExplanationTests

# Draws README's picture anew, from a run.
picture:
	$(SWIFT) build --product otaflash
	tools/picture .build/debug/otaflash docs/flash.svg

# The released program, with the Swift runtime in it: .build-release/release/otaflash.
release-program: deps
	tools/build-release

# Installs the released program, its manual, completions and documents; PREFIX, DESTDIR as usual.
# A program of yours is PROGRAM=path.
install:
	tools/install

# A Debian package of it, in .build-release/package; its symbols are in a package of their own.
package: deps
	@tools/deps debhelper fakeroot
	tools/package

# The package in a bare Debian without Swift: installed, used, upgraded, purged; lintian before.
package-test:
	@tools/deps debootstrap lintian tmux
	Tests/Package/run .build-release/package

# Builds the package in two folders, from nothing: both are equal, octet by octet.
package-twice: deps
	@tools/deps debhelper fakeroot diffoscope-minimal
	Tests/Package/twice

# Cuts a release, VERSION=x.y.z: changelog, version, a commit, and the text of its tag.
release:
	tools/release $(VERSION)

# Installs the Debian packages that are missing.
deps:
	@tools/deps

# Removes all that was built.
clean:
	rm -rf .build
	$(MAKE) -C Tests/ReceiverC clean
