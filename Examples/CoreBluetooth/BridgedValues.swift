@preconcurrency import CoreBluetooth
import Foundation
import OtaflashGATT
import Synchronization

/// The reason an operation of Core Bluetooth had no result.
enum BridgeFault: Error, Equatable {
  /// The device refused the operation.
  case refused(ATTErrorCode)
  /// The connection ended.
  case lost(LinkLoss)
  /// The waiting task was cancelled.
  case cancelled
  /// The system failed. `reason` is its message.
  case failed(reason: String)

  init(_ error: any Error) {
    let any: Any = error
    guard let error = any as? NSError else {
      self = .failed(reason: "\(error)")
      return
    }
    switch error.domain {
    case CBATTErrorDomain:
      self = .refused(ATTErrorCode(UInt8(truncatingIfNeeded: error.code)))
    case CBErrorDomain where CBError.Code(rawValue: error.code) == .notConnected:
      self = .lost(.closedByPeer)
    default: self = .failed(reason: error.localizedDescription)
    }
  }

  /// The error code for the response to the library's request.
  var code: ATTErrorCode {
    switch self {
    case .refused(let code): code
    case .lost, .cancelled, .failed: .unlikelyError
    }
  }

  var connectFault: ConnectFault {
    switch self {
    case .refused(let code):
      .adapterUnavailable(
        cause: "The device refused the discovery of its services (\(code)).", remedy: .restartDevice
      )
    case .lost(let loss): .lostWhileConnecting(loss)
    case .cancelled: .cancelled
    case .failed(let reason):
      .adapterUnavailable(cause: "Core Bluetooth failed: \(reason)", remedy: .tryAgain)
    }
  }
}

extension LinkLoss {
  /// - Parameter error: the error of a disconnection; `nil` if the host ended the connection.
  init(coreBluetooth error: (any Error)?) {
    let any: Any? = error
    guard let any else {
      self = .closedLocally
      return
    }
    switch (any as? NSError).flatMap({ CBError.Code(rawValue: $0.code) }) {
    case .connectionTimeout?: self = .supervisionTimeout
    case .peerRemovedPairingInformation?: self = .keysRefused
    default: self = .closedByPeer
    }
  }
}

/// One callback, awaited by one task. Ends once: by `end`, or by the cancellation of the task.
final class Callback: Sendable {
  typealias Outcome = Result<[UInt8], BridgeFault>

  private enum State {
    case new
    case waiting(CheckedContinuation<Outcome, Never>)
    case ended(Outcome)
  }

  private let state = Mutex(State.new)

  func result() async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state -> Outcome? in
          if case .ended(let outcome) = state { return outcome }
          state = .waiting(continuation)
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      end(.failure(.cancelled))
    }
  }

  func end(_ outcome: Outcome) {
    let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      switch state {
      case .new:
        state = .ended(outcome)
        return nil
      case .waiting(let continuation):
        state = .ended(outcome)
        return continuation
      case .ended: return nil
      }
    }
    continuation?.resume(returning: outcome)
  }
}

extension BluetoothUUID {
  /// Core Bluetooth's bytes are most significant first, in the short form if the UUID has one.
  init(_ uuid: CBUUID) {
    let bytes = Array(uuid.data)
    if bytes.count == 4 {
      self.init(bits32: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    } else if let read = BluetoothUUID(littleEndian: bytes.reversed()) {
      self = read
    } else {
      preconditionFailure("a CBUUID has 2, 4 or 16 bytes")
    }
  }
}

extension Advertisement {
  init(_ id: String, name: String?, _ data: [String: Any], rssi: NSNumber) {
    let services = data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
    let manufacturer = (data[CBAdvertisementDataManufacturerDataKey] as? Data).map(Array.init) ?? []
    let serviceData = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
    self.init(
      id: id, name: data[CBAdvertisementDataLocalNameKey] as? String ?? name,
      // 127 means that the strength is unknown.
      rssi: rssi.intValue == 127 ? nil : rssi.intValue,
      services: services.map { BluetoothUUID($0) },
      manufacturerData: manufacturer.count < 2
        ? []
        : [
          ManufacturerData(
            company: UInt16(manufacturer[0]) | UInt16(manufacturer[1]) << 8,
            data: Array(manufacturer[2...]))
        ],
      serviceData: serviceData.map { ServiceData(service: BluetoothUUID($0), data: Array($1)) },
      txPower: (data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue,
      isConnectable: (data[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue)
  }
}

extension AdapterState {
  /// `nil` if the system does not know the state.
  init?(_ state: CBManagerState) {
    switch state {
    case .unknown, .resetting: return nil
    case .unsupported: self = .removed
    case .unauthorized: self = .blocked(hard: false)
    case .poweredOff: self = .poweredOff
    case .poweredOn: self = .poweredOn
    @unknown default: return nil
    }
  }
}

extension ScanFault {
  /// `nil` if the system does not know the state, or if Bluetooth is on.
  init?(_ state: CBManagerState) {
    switch state {
    case .unknown, .resetting, .poweredOn: return nil
    case .unsupported:
      self = .unsupported(
        cause: "This computer has no Bluetooth LE.", remedy: .plugInAdapter)
    case .unauthorized:
      self = .permissionDenied(
        cause: "The user has not allowed this app to use Bluetooth.",
        remedy: .advice("Allow Bluetooth for this app in the system's settings."))
    case .poweredOff:
      self = .adapterUnavailable(
        cause: "Bluetooth is switched off.", remedy: .turnAdapterOn(adapter: nil))
    @unknown default: return nil
    }
  }
}
