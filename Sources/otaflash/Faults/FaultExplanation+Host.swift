/// Finding and reaching the device, campaigns, and our own side.
extension FaultExplanation {
  static let noAdapter = FaultExplanation(
    "no Bluetooth adapter can be used",
    causes: """
      There is none, it is off or blocked, its Low Energy part is off, or it hangs. In a \
      container, the host's adapters are seen with its network alone.
      """,
    remedy: "`otaflash doctor` says which of these it is, and what to type.")

  static let deviceNotFound = FaultExplanation(
    "the device does not answer or advertise",
    causes: """
      It is out of range, asleep or off, connected to another host (connected devices do not \
      advertise), or its address is of the other type.
      """,
    remedy: """
      `otaflash scan --all` shows what is in the air. Try the address with /public or /random \
      behind it; disconnect the device elsewhere.
      """)

  static let deviceAmbiguous = FaultExplanation(
    "several devices match",
    causes: "More than one device has a name like the one given. Nothing is picked for you.",
    remedy: "The message lists their addresses: give one of them, or a narrower pattern.")

  static let deviceBusy = FaultExplanation(
    "another process works on the device",
    causes: """
      Another otaflash, a campaign among them, has a link to this device or is about to; or a \
      simulated device's flash file is in use.
      """,
    remedy: "Wait for it, or end it. `otaflash fleet status` tells what a campaign does.")

  static let permission = FaultExplanation(
    "the system or the device wants a right",
    causes: """
      Scanning and pairing want the capability CAP_NET_ADMIN; a device may want its link \
      encrypted before it is written to.
      """,
    remedy: """
      `otaflash doctor` tells what is missing here, and the command that gives it. For the \
      device's part, pair first: `otaflash pair -d name:door-01`.
      """)

  static let notPaired = FaultExplanation(
    "the device wants a pairing first",
    causes: """
      The device takes updates from paired hosts alone, and this host has no keys for it, or \
      may not make any.
      """,
    remedy: """
      `otaflash pair -d name:door-01`, once. Many devices take pairings for a short time after \
      a button was pressed.
      """)

  static let pairingFailed = FaultExplanation(
    "the devices could not be paired",
    causes: """
      The device refused, its number was not confirmed or typed wrongly, or it takes no pairing \
      at this time.
      """,
    remedy: """
      Put the device into its pairing mode and try again. A device with a display shows what is \
      to be typed.
      """)

  static let bondForgotten = FaultExplanation(
    "the device no longer has the keys of a pairing",
    causes: "It was reset or paired with others since; or somebody else uses its address.",
    remedy: """
      Make sure that it is your device. Then forget its keys here: `otaflash unpair -d \
      C0:FF:EE:00:00:01`, and run the same command again, which pairs where the device requires \
      it. Where bluetoothd made the pairing, remove it there, too. A new image on trial is \
      reverted by the next restart of the device, unless the same command confirms it before.
      """)

  static let systemCall = FaultExplanation(
    "a system call failed",
    causes: """
      The kernel refused something that it should do: a driver's fault, or a limit on this \
      process. The message names the call.
      """,
    remedy: """
      `otaflash doctor` looks at all that is needed. The kernel's log (dmesg) often says more.
      """)

  static let baseline = FaultExplanation(
    "the baseline of a benchmark cannot be compared with",
    causes: """
      The file given with --baseline holds no measurements, or none of this run's modes, MTUs \
      and intervals.
      """,
    remedy: "Write a new one: `otaflash bench -d name:door-01 --json`.")

  static let belowBaseline = FaultExplanation(
    "a benchmark is slower than its baseline",
    causes: """
      The link carries less than it did: a busier air, another adapter, a slower firmware of \
      the device.
      """,
    remedy: "Run it again in a quiet place. The lines above name what holds the link back.")

  static let campaign = FaultExplanation(
    "a campaign, or its table of devices, is malformed, or was changed since its run began",
    causes: """
      A key is misspelt, a value is out of range, or the file is not the one that the run was \
      planned with. Nothing was begun.
      """,
    remedy: """
      The message tells line and column; otaflash-campaign(5) describes every key. `otaflash \
      fleet plan campaign.yaml` checks a file. --again gives a run up and begins another.
      """)

  static let fleetRun = FaultExplanation(
    "there is no such run, or several",
    causes: "Runs are named by the first characters of their names.",
    remedy: "`otaflash fleet list` shows them all.")

  static let fleetRunHeld = FaultExplanation(
    "another process works on a campaign",
    causes: "One process at a time works with a store of runs.",
    remedy: """
      `otaflash fleet status` shows what it does. pause, resume, cancel and retry reach it from \
      any terminal.
      """)

  static let fleetRequest = FaultExplanation(
    "a run cannot do what was asked of it, or nobody has answered yet",
    causes: """
      A run that has ended cannot be paused, one that does not wait cannot be resumed; and a \
      request is carried out by the process that works on the run, when there is one.
      """,
    remedy: """
      `otaflash fleet status` tells where the run is. A request that nobody has answered is \
      kept.
      """)

  static let fleetPaused = FaultExplanation(
    "a run waits for a person",
    causes: """
      A wave asks for a person's approval, too many devices failed, or somebody paused the run.
      """,
    remedy: """
      Look at `otaflash fleet status`, decide, then `otaflash fleet resume` and run the \
      campaign's command again; or `otaflash fleet cancel`.
      """)

  static let fleetChain = FaultExplanation(
    "the recorded events of a run were changed",
    causes: """
      Each event is chained to the one before it, and each run to the run before it. The chain \
      does not hold, no event has the hash that was given to `--verify`, or a run was deleted: \
      the store was written by something else than otaflash, or its disk is damaged.
      """,
    remedy: """
      Do not rely on the report of this run. Find out what writes to the store, then start \
      another run: the devices report what they run.
      """)

  static let fleetStore = FaultExplanation(
    "the store of runs cannot be used",
    causes: """
      Its disk is full or may not be written to, another program holds it, or it is damaged or \
      of a later version. What cannot be recorded is not done.
      """,
    remedy: """
      `otaflash doctor` shows where it lies. Make room, and run the same command again: it goes \
      on.
      """)

  static let selfTest = FaultExplanation(
    "a check of the self-test failed",
    causes: """
      This installation does not do what was tested. What the program rests on is damaged or \
      missing, a disk is full, or the program has an error.
      """,
    remedy: """
      Run `otaflash self-test` once more, then install the program anew. What fails still is \
      worth a report, with the output of `otaflash --version`.
      """)

  static let state = FaultExplanation(
    "the state directory cannot be used",
    causes: """
      It lies in $XDG_STATE_HOME/otaflash or ~/.local/state/otaflash. Its disk is full, it \
      belongs to another user (who once ran otaflash with sudo, for example), or one of its \
      files is damaged.
      """,
    remedy: """
      `otaflash doctor` shows where it is and what is wrong. A service gets a place of its own \
      with XDG_STATE_HOME.
      """)

  static let output = FaultExplanation(
    """
    standard output, a capture, a plot or a report cannot be written, or would be written \
    over another file
    """,
    causes: """
      The reader of a pipe has gone, the disk is full, or the name is that of a file of another \
      kind, which is kept.
      """,
    remedy: """
      Choose another name or make room. An update that had begun has gone on: run its command \
      again to see where it stands.
      """)
}
