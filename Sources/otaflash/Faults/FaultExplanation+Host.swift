/// Discovery and connection, campaigns, and the host.
extension FaultExplanation {
  static let noAdapter = FaultExplanation(
    "no Bluetooth adapter can be used",
    causes: """
      There is no adapter, it is off or blocked, Bluetooth LE is off, or the adapter hangs. A \
      container sees the adapters of the host only with the network of the host.
      """,
    remedy: "`otaflash doctor` finds the reason and prints the command that helps.")

  static let deviceNotFound = FaultExplanation(
    "the device does not answer or advertise",
    causes: """
      It is out of range, asleep or off, connected to another host (connected devices do not \
      advertise), or its address is of the other type.
      """,
    remedy: """
      `otaflash scan --all` lists all devices in range. Append /public or /random to the \
      address; disconnect the device from other hosts.
      """)

  static let deviceAmbiguous = FaultExplanation(
    "several devices match",
    causes: "More than one device has a matching name. otaflash does not choose one.",
    remedy: "The message lists their addresses: use one of them, or a narrower pattern.")

  static let deviceBusy = FaultExplanation(
    "another process uses the device",
    causes: """
      Another otaflash, possibly a campaign, is connected to this device or is connecting; or \
      the flash file of a simulated device is in use.
      """,
    remedy: """
      Wait until it has finished, or stop it. `otaflash fleet status` shows the state of a \
      campaign.
      """)

  static let permission = FaultExplanation(
    "permission denied by the system or the device",
    causes: """
      Scanning and pairing require the capability CAP_NET_ADMIN. A device may require an \
      encrypted link before it accepts writes.
      """,
    remedy: """
      `otaflash doctor` names the missing permission and prints the command that grants it. If \
      the device refuses, pair first: `otaflash pair -d name:door-01`.
      """)

  static let notPaired = FaultExplanation(
    "the device requires pairing first",
    causes: """
      The device accepts updates only from paired hosts, and this host has no keys for it, or is \
      not allowed to pair.
      """,
    remedy: """
      Run `otaflash pair -d name:door-01` once. Many devices accept pairing only for a short \
      time after a button was pressed.
      """)

  static let pairingFailed = FaultExplanation(
    "pairing failed",
    causes: """
      The device refused, its number was not confirmed or was entered incorrectly, or it does \
      not accept pairing at this time.
      """,
    remedy: """
      Put the device into its pairing mode and try again. A device with a display shows the \
      number to enter.
      """)

  static let bondForgotten = FaultExplanation(
    "the device no longer has the keys of a pairing",
    causes: """
      The device was reset or paired with other hosts since, or another device uses its address.
      """,
    remedy: """
      Make sure that it is your device. Then forget its keys here: `otaflash unpair -d \
      C0:FF:EE:00:00:01`, and run the same command again, which pairs where the device requires \
      it. If bluetoothd created the pairing, remove it there, too. A new image on trial is \
      reverted by the next restart of the device, unless the same command confirms it before.
      """)

  static let systemCall = FaultExplanation(
    "a system call failed",
    causes: """
      The kernel refused an operation that should succeed, because of a driver fault or a limit \
      on this process. The message names the call.
      """,
    remedy: """
      `otaflash doctor` checks all requirements. The kernel's log (dmesg) often contains details.
      """)

  static let baseline = FaultExplanation(
    "the baseline of a benchmark is not comparable",
    causes: """
      The file of --baseline holds no measurements, or none with the modes, MTUs and intervals \
      of this run.
      """,
    remedy: "Write a new one: `otaflash bench -d name:door-01 --json`.")

  static let belowBaseline = FaultExplanation(
    "a benchmark is slower than its baseline",
    causes: """
      The link is slower than before: there is more interference, another adapter, or a slower \
      firmware on the device.
      """,
    remedy: """
      Run it again without interference. The lines above the error name the limiting factor.
      """)

  static let campaign = FaultExplanation(
    "a campaign or its device table is malformed, or changed after its run started",
    causes: """
      A key is misspelled, a value is out of range, or the file differs from the one that the \
      run was planned with. Nothing was started.
      """,
    remedy: """
      The message contains line and column; otaflash-campaign(5) describes every key. `otaflash \
      fleet plan campaign.yaml` checks a file. --again abandons a run and starts another.
      """)

  static let fleetRun = FaultExplanation(
    "no run or several runs match",
    causes: "A run is identified by its name or the first characters of its name.",
    remedy: "`otaflash fleet list` lists all runs.")

  static let fleetRunHeld = FaultExplanation(
    "another process works on a campaign",
    causes: "Only one process at a time can use a store of runs.",
    remedy: """
      `otaflash fleet status` shows its progress. pause, resume, cancel and retry reach it from \
      any terminal.
      """)

  static let fleetRequest = FaultExplanation(
    "a run cannot follow a request, or no process has answered yet",
    causes: """
      A finished run cannot be paused, and a run that does not wait cannot be resumed. Requests \
      are carried out by the process that works on the run, if there is one.
      """,
    remedy: """
      `otaflash fleet status` shows the state of the run. An unanswered request is kept.
      """)

  static let fleetPaused = FaultExplanation(
    "a run waits for an operator",
    causes: """
      A wave requires manual approval, too many devices failed, or an operator paused the run.
      """,
    remedy: """
      Look at `otaflash fleet status`, decide, then `otaflash fleet resume` and run the \
      campaign's command again; or `otaflash fleet cancel`.
      """)

  static let fleetChain = FaultExplanation(
    "the recorded events of a run were changed",
    causes: """
      Each event contains the hash of the event before it, and each run the hash of the run \
      before it. A hash does not match, no event has the hash given to `--verify`, or a run was \
      deleted: another program changed the store, or its disk is damaged.
      """,
    remedy: """
      Do not rely on the report of this run. Find out which program writes to the store, then \
      start another run: the devices report their running images.
      """)

  static let fleetStore = FaultExplanation(
    "the store of runs cannot be used",
    causes: """
      Its disk is full or read-only, another program locks it, it is damaged, or a later version \
      of otaflash created it. A step that cannot be recorded is not carried out.
      """,
    remedy: """
      `otaflash doctor` shows its path. Free disk space, and run the same command again: the run \
      continues.
      """)

  static let selfTest = FaultExplanation(
    "a check of the self-test failed",
    causes: """
      This installation does not work as tested. Files that the program needs are damaged or \
      missing, a disk is full, or the program has a bug.
      """,
    remedy: """
      Run `otaflash self-test` once more, then reinstall the program. If a check still fails, \
      report it with the output of `otaflash --version`.
      """)

  static let state = FaultExplanation(
    "the state directory cannot be used",
    causes: """
      The state directory is $XDG_STATE_HOME/otaflash or ~/.local/state/otaflash. Its disk is \
      full, it belongs to another user (for example after otaflash ran with sudo once), or one \
      of its files is damaged.
      """,
    remedy: """
      `otaflash doctor` shows its path and the reason. For a service, set XDG_STATE_HOME to a \
      separate directory.
      """)

  static let output = FaultExplanation(
    """
    standard output, a capture, a plot or a report cannot be written, or would overwrite \
    another file
    """,
    causes: """
      The reader of a pipe has exited, the disk is full, or a file of another kind has this \
      name; that file is kept.
      """,
    remedy: """
      Choose another name or free disk space. An update in progress has continued: run its \
      command again to check its state.
      """)
}
