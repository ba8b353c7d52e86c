import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization
import Testing

/// The events, in order.
private final class Order: Sendable {
  private let lines = Mutex<[String]>([])
  func note(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

@Suite struct QueueTests {
  /// A read that is requested during an update waits until the update is complete, and then uses
  /// the connection that the update left open.
  @Test func anUnrelatedReadWaitsForTheUpdate() throws {
    let order = Order()
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: "plain"), clock: timeline.clock)
    let update = FirmwareUpdate(image: image(size: 20_000)) { event in
      if case .stageBegan(.upload) = event { order.note("upload begins") }
      if case .finished = event { order.note("flash done") }
    }
    let firmware = try timeline.run { clock -> String in
      await withTaskGroup(of: String?.self) { group in
        group.addTask {
          await board.run()
          return nil
        }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
        let text = await withPeripheral(dialer, clock: clock) { peripheral -> String in
          await withTaskGroup(of: String?.self) { work in
            work.addTask {
              do { return "\(try await peripheral.perform(update.command).outcome)" } catch {
                return "\(error)"
              }
            }
            work.addTask {
              await clock.pause(for: .seconds(1))
              order.note("read issued")
              do {
                let value = try await peripheral.read(
                  BluetoothUUID(0x2A26), in: BluetoothUUID(0x180A))
                order.note("read done")
                return String(decoding: value, as: UTF8.self)
              } catch {
                return "\(error)"
              }
            }
            return await work.reduce(into: "") { $0 += ($1 ?? "") + " " }
          }
        }
        group.cancelAll()
        return text
      }
    }
    #expect(order.all == ["upload begins", "read issued", "flash done", "read done"])
    #expect(firmware == "flashed 1.3.0 ")
  }

  /// Both for a time limit of the command and for a time limit of the queue, the device is notified
  /// in time and keeps its bytes, and the fault contains their number.
  @Test(arguments: [false, true])
  func aTimeLimitKeepsTheStateOfTheUpdate(ofTheQueue: Bool) throws {
    let timeline = VirtualTimeline()
    let board = try SimulatedBoard(
      profile: SimulationProfile(parsing: "plain"), clock: timeline.clock)
    let update = FirmwareUpdate(image: image(size: 200_000))
    let limit = Duration.seconds(3)
    let outcomes = try timeline.run { clock in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = await board.run() }
        let dialer = Dialer { () async throws(ConnectFault) -> any Link in try await board.dial() }
        let outcomes = await withPeripheral(dialer, clock: clock) { peripheral in
          var outcomes: [Result<UpdateResult, QueueFault<UpdateFault>>] = []
          for command in [update.command, update.command] {
            let isLimited = outcomes.isEmpty
            do throws(QueueFault<UpdateFault>) {
              if isLimited, ofTheQueue {
                let limited = peripheral.timeLimit(limit, on: clock)
                outcomes.append(.success(try await limited.perform(command)))
              } else {
                outcomes.append(
                  .success(
                    try await peripheral.perform(isLimited ? command.timeLimit(limit) : command)))
              }
            } catch {
              outcomes.append(.failure(error))
            }
          }
          return outcomes
        }
        group.cancelAll()
        return outcomes
      }
    }
    guard case .failure(.failed(.timedOut(limit, resumable: true, let acknowledged))) = outcomes[0]
    else {
      Issue.record("\(outcomes[0])")
      return
    }
    #expect(acknowledged > 4096)
    let second = try outcomes[1].get()
    #expect(second.resumes == 1 && second.bytesSent < 200_000 - acknowledged / 2)
  }
}
