# Commands for developers of otaflash; `make help` lists them. `make demo` and `make test` install their requirements.
# `make lab SHELL=1` requests a shell in the guest; the shell of the recipes does not change.
SHELL_IN_GUEST := $(if $(filter command line,$(origin SHELL)),$(SHELL))
override SHELL := /bin/bash
SWIFT ?= swift

.PHONY: demo demo-fleet build test kill-test fleet-kill-test site-faults site-scale test-receiver compare-receivers smp-oracle silabs-oracle lab \
  bench swarm replay sweep fleet-swarm fleet-patches report-page sites-page fuzz format style lint man clean deps client docs site-pages \
  troubleshooting picture soak real-files zip-oracle \
  delta-oracle delta-pairs help release-program install package package-test package-sites package-sites-test \
  three-sites release release-twice static-test arm64 new-version

# Lists the commands with the first line of their comments in this file.
help:
	@awk '/^# / && !said { said = substr($$0, 3) } /^$$/ { said = "" } \
	  /^[a-z0-9-]+:( [a-z]+)*$$/ && said { sub(":.*", ""); printf "make %-18s %s\n", $$0, said; said = "" }' \
	  $(firstword $(MAKEFILE_LIST))

# Flashes a sample onto a simulated device, kills the process in the middle, and resumes.
# Without the index of the compiler, which editors create themselves, the build is shorter.
demo: deps
	$(SWIFT) build --disable-index-store --product otaflash
	Examples/demo.sh

# Runs a campaign over forty simulated boards that is killed twice: forecast, result and report.
# It uses the release configuration, because the forecast simulates the campaign nine times.
demo-fleet: deps
	@tools/deps libsqlite3-dev
	$(SWIFT) build -c release --traits Fleet --product otaflash
	Examples/demo-fleet.sh

# Runs a campaign over three sites on this computer, with simulated boards; the page stays open until Ctrl-C.
three-sites:
	Examples/three-sites/run

# Builds the debug configuration, which is fast to rebuild, with campaigns (the trait Fleet).
build: deps
	$(SWIFT) build --disable-index-store --traits Fleet

# Runs all tests in the release configuration; CONFIGURATION=debug is faster to rebuild after a change.
test:
	@tools/deps libnats-dev openssl openssh-client minisign python3-prometheus-client
	tools/nats-servers || (($$? == 69))
	Tests/run

# Kills the host or the device of an update at 50 random moments, and suspends processes for a long time.
# A killed process is restarted; a suspended process continues after more than the time limit of a transaction.
kill-test: build
	Tests/System/Kill/kill-nine --kills 50 .build/debug/otaflash
	Tests/System/Kill/kill-nine --kills 50 --device unix .build/debug/otaflash
	Tests/System/Kill/stop-and-go .build/debug/otaflash
	Tests/System/Kill/patch-kill .build/debug/otaflash

# Kills a campaign over fifty simulated boards at 200 random moments.
# Checks that the result equals the result of an undisturbed campaign, and that the event log is complete.
fleet-kill-test: build
	Tests/System/Kill/fleet-kill --kills 200 .build/debug/otaflash

# Runs a campaign of 2,000 devices on each version of the server, and kills, stops and disconnects its processes.
# SEED determines boards and faults. One run takes about half an hour.
site-faults: deps
	@tools/deps libnats-dev libsqlite3-dev iproute2
	tools/nats-servers
	for product in otaflash-coordinator otaflash-gateway site-boards; do \
	  $(SWIFT) build -c release --traits Sites --product "$$product" || exit; done
	Tests/System/Sites/faults.py --long --seed $(or $(SEED),1) .build/release

# Runs a campaign of 10,000 simulated devices over 100 gateways, and measures the coordinator. Then runs a campaign on
# three servers, the leader of which is killed.
site-scale: deps
	@tools/deps libnats-dev libsqlite3-dev
	tools/nats-servers
	for product in otaflash-coordinator site-gateways site-dispatch; do \
	  $(SWIFT) build -c release --traits Sites --product "$$product" || exit; done
	Tests/System/Sites/scale.py .build/release
	Tests/System/Sites/scale.py --cluster --devices 2000 --gateways 40 --sites 20 .build/release

# Runs hostile devices against the program, and hostile hosts against its simulated device, for MINUTES.
# FIRST is the first seed.
MINUTES ?= 60
FIRST ?= 1
soak: deps
	$(SWIFT) build -c release --product otaflash
	Tests/System/Soak/soak --minutes $(MINUTES) --seed $(FIRST) .build/release/otaflash

# Tests the device side in C with the sanitizers.
test-receiver: deps
	$(MAKE) -C Tests/System/ReceiverC test

# Compares the SMP codec with the Python package smp, and updates a device that uses this package.
# The comparison encodes and decodes 1000 random messages of each kind.
smp-oracle: deps
	$(SWIFT) build --product smp-codec
	$(SWIFT) build --product otaflash
	Tests/System/SMPOracle/run .build/debug/smp-codec
	Tests/System/SMPOracle/flash-device .build/debug/otaflash

# Updates the simulated AppLoader of Silicon Labs with the Python package silabs-ble-ota.
silabs-oracle: deps
	$(SWIFT) build --product otaflash
	Tests/System/SilabsOracle/run .build/debug/otaflash

# Compares patches with the patches of the Python package detools.
# Patches of otaflash must not be larger, and each program must apply the patches of the other. The first run builds a
# small Cortex-M firmware a dozen times.
delta-oracle:
	@tools/deps gcc-arm-none-eabi
	$(SWIFT) build -c release --product delta-codec
	$(SWIFT) build -c release --product otaflash
	Tests/System/DeltaOracle/run .build/release/delta-codec
	"$$(Tests/System/DeltaOracle/environment)" -B Tests/System/DeltaOracle/protocol.py .build/release/otaflash \
	  .build/release/delta-codec

# The sizes of patches for pairs of firmware, their rates, and their goals: a folder PAIRS with a folder for each pair,
# which contains the files old and new.
delta-pairs:
	$(SWIFT) build -c release --product delta-codec
	$(SWIFT) build -c release --product goals
	python3 -B Tests/System/DeltaOracle/goals.py .build/release/delta-codec $(PAIRS) 20 .build/release/goals

# Compares the receivers in C and in Python, which implement the same document, with the same random input.
compare-receivers: SEEDS = 20
compare-receivers: deps
	$(SWIFT) build --product otaflash
	python3 -B Tests/System/KernelLab/peers/compare_receivers.py .build/debug/otaflash $(SEEDS)

# Tests the radio path in a real kernel with virtual controllers; ONLY=name runs one scenario.
# SHELL=1 opens a shell in the guest.
lab: deps
	ONLY='$(ONLY)' SHELL_IN_GUEST='$(SHELL_IN_GUEST)' Tests/System/KernelLab/run

# Measures the performance goals, in at most ten minutes.
# DOCUMENT=docs/performance.md also updates the table in this document.
bench: deps
	Benchmarks/run $(DOCUMENT)

# Runs updates over faulty links and devices, with the seeds 1 to SEEDS.
SEEDS ?= 10000
swarm: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seeds $(SEEDS)

# Runs one seed of the swarm, SEED=n, with its complete log.
replay: deps
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --seed $(SEED)

# Runs a campaign over DEVICES simulated boards: time, memory, and a comparison with the state of each board.
DEVICES ?= 10000
fleet-swarm: deps
	$(SWIFT) build -c release --product fleet-swarm
	.build/release/fleet-swarm $(DEVICES)

# Measures the gain from patches for twenty boards on one adapter.
fleet-patches: deps
	$(SWIFT) build -c release --product fleet-swarm
	.build/release/fleet-swarm --patches

# Checks the HTML report in Chromium, in every width and theme and on paper, with hostile device names.
# PICTURES=folder stores screenshots.
report-page:
	@tools/deps chromium libxml2-utils fonts-dejavu-core
	$(SWIFT) build --traits Fleet -c release --product report-samples
	PICTURES='$(PICTURES)' Tests/System/FleetReportPage/run .build/release/report-samples

# Checks the page of many sites in Chromium, and its API with schemathesis. PICTURES=folder stores screenshots.
sites-page:
	@tools/deps chromium fonts-dejavu-core libnats-dev python3-venv
	$(SWIFT) build --traits Sites -c release --product sites-page-samples
	PICTURES='$(PICTURES)' Tests/System/SitesPage/run .build/release/sites-page-samples

# Cuts the update of every sample and kind of device at every PDU, and resumes with damaged journals on the host.
sweep: build
	$(SWIFT) build -c release --product otaflash-swarm
	.build/release/otaflash-swarm --cuts firmware-samples
	Tests/System/Kill/lying-journal .build/debug/otaflash

# Tests files that common tools write (linkers, srec_cat, intelhex, imgtool).
real-files: deps
	$(SWIFT) build --product otaflash
	Tests/System/RealFiles/run .build/debug/otaflash

# Compares the reader for ZIP archives with the readers of Python and Info-ZIP, on archives generated from a seed.
zip-oracle: COUNT = 1000
zip-oracle: deps
	$(SWIFT) build --product zip-reader
	python3 -B Tests/System/ZipOracle/compare.py .build/debug/zip-reader $(COUNT)

# Fuzzes every decoder, and the host side of every protocol, for SECONDS each.
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

# Runs `style`, and checks the scripts with shellcheck.
lint: style
	shellcheck --severity=warning tools/deps tools/docs tools/site/make tools/build-release tools/build-arm64 tools/install tools/package tools/tarball tools/wheel tools/version tools/release tools/new-version tools/nats-servers \
	  Tests/System/Package/{run,twice,sites,static,arm64} python/check Examples/three-sites/run Tests/run Tests/swift Tests/System/Client/run Tests/System/FleetReportPage/run Tests/System/SitesPage/run Examples/*.sh Benchmarks/run .ci/run \
	  Tests/System/KernelLab/{run,prepare,guest/session,guest/*.sh,peers/loaded}
	shellcheck --severity=warning --shell=bash --exclude=SC2034,SC2154 Tests/System/KernelLab/scenarios/*.sh

# Writes the manual pages of the commands from the help of the program.
man:
	$(SWIFT) build --disable-index-store --traits Fleet --product otaflash
	man/generate .build/debug/otaflash man
	@tools/deps libnats-dev
	for name in otaflash-coordinator otaflash-gateway; do \
	  $(SWIFT) build --disable-index-store --traits Sites --product "$$name" && man/generate ".build/debug/$$name" man || exit; done

# Builds and tests an app that uses only the products of the package (Tests/System/Client).
client: deps
	Tests/System/Client/run

# Builds a site of all documents, the manual and the libraries in .build/site, which a browser reads from disk.
# Also builds DocC archives of the libraries in .build/documentation, and compares docs/api with the public API.
docs: deps
	@tools/deps mandoc python3-markdown-it python3-pygments
	tools/docs
	tools/site/make

# Checks the site of `make docs` in Chromium: every page and link, two widths, search.
# PICTURES=folder stores screenshots.
site-pages: docs
	@tools/deps chromium fonts-dejavu-core
	python3 -B Tests/System/SitePages/browse.py .build/site $(PICTURES)

# Writes docs/troubleshooting.md and DIAGNOSTICS in otaflash(1) from the table of error codes, and docs/devices.md from
# the table of products.
troubleshooting:
	WRITE_DOCUMENTS=1 Tests/run --filter 'ExplanationTests|DevicesPageTests'

# Draws the picture in the README from a run of `flash`.
picture:
	$(SWIFT) build --product otaflash
	tools/picture .build/debug/otaflash docs/flash.svg

# Builds the released program with the Swift runtime linked in: .build-release/release/otaflash.
release-program: deps
	tools/build-release

# Installs the released program, its manual, completions and documents; uses PREFIX and DESTDIR as usual.
# PROGRAM=path installs another program.
install:
	tools/install

# Builds a Debian package of the released program in .build-release/package; the symbols are in a separate package.
package: deps
	@tools/deps debhelper fakeroot
	tools/package

# Checks the package with lintian, and tests it in a minimal Debian without Swift: install, use, upgrade, purge.
package-test:
	@tools/deps debootstrap lintian tmux
	Tests/System/Package/run .build-release/package

# Builds the Debian package of the programs for many sites in .build-release-sites/package.
package-sites: deps
	@tools/deps debhelper fakeroot libnats-dev
	tools/package sites

# Checks the package for many sites with lintian, and tests it in a minimal Debian without Swift: install, services,
# purge.
package-sites-test:
	@tools/deps debootstrap lintian
	Tests/System/Package/sites .build-release-sites/package

# Builds all files of a release page in .build-release/files: packages, archive, wheel, checksums, bills of materials,
# notes, versions of all dependencies, provenance.
release: deps
	@tools/deps debhelper fakeroot
	tools/release

# Builds the files of a release twice from scratch, in two folders, and compares all bytes.
release-twice: deps
	@tools/deps debhelper fakeroot diffoscope-minimal
	Tests/System/Package/twice

# Tests the static program in a folder that contains nothing else, and in bare Debians: SUITES="bullseye bookworm".
static-test:
	@tools/deps debootstrap
	Tests/System/Package/static $(SUITES)

# Builds the program for arm64 on an x86-64 machine, and tests it in emulation: .build-arm64/release/otaflash.
# The first run downloads 1.1 GB of Debian packages. A build takes about a quarter of an hour on two cores.
arm64: deps
	tools/build-arm64
	Tests/System/Package/arm64
	Tests/System/Package/arm64 .build-arm64/static/otaflash

# Prepares a release, VERSION=x.y.z: changelog, version, a commit, and the text of the tag.
new-version:
	tools/new-version $(VERSION)

# Installs missing Debian packages.
deps:
	@tools/deps

# Removes all build output.
clean:
	rm -rf .build
	$(MAKE) -C Tests/System/ReceiverC clean
