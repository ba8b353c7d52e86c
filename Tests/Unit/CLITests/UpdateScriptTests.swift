import Testing

/// Tests that end `Examples/fleet-update.sh` by a signal.
@Suite(.waitsForPrograms) struct UpdateScriptTests {
  @Test func aSignalLeavesTheTableAndTheStreams() throws {
    let program = try Program()
    let script = """
      mkfifo "$1/errors"
      Examples/fleet-update.sh -j 2 -o "$1/kept" firmware-samples/app-1.3.0.bin \
        sim:fast 'sim:plain?interval=1s' >"$1/table" 2>"$1/errors" &
      while read -r line; do
        case $line in 'sim:fast: '*) kill -TERM $! ;; esac
      done <"$1/errors"
      wait $!
      echo "status $?"
      cat "$1/table"
      ls "$1/kept"
      """
    // The threads of the tests may block signals, and children inherit the blocked signals.
    let start = """
      import os, signal, sys
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      signal.signal(signal.SIGTERM, signal.SIG_DFL)
      os.execvp("bash", ["bash", "-c"] + sys.argv[1:])
      """
    let outcome = try Program.runTool(
      ["python3", "-c", start, script, "bash", program.home.path],
      environment: program.environment.merging(["OTAFLASH": try Program.path()]) { $1 })
    #expect(outcome.output.hasPrefix("status 143\n"), "\(outcome.output)")
    #expect(outcome.output.contains(/sim:fast +0 +flashed/), "\(outcome.output)")
    #expect(outcome.output.contains(/interval=1s +143 +interrupted/), "\(outcome.output)")
    #expect(outcome.output.contains("sim_fast.jsonl"), "\(outcome.output)")
  }
}
