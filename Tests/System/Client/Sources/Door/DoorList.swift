import OtaflashGATT
import Synchronization

/// The doors that the app has connected to, the most recent first. A real app stores them in its
/// settings.
public final class DoorList: KnownDevices {
  private let known = Mutex<[KnownDevice]>([])

  public init() {}

  public func remember(_ id: Advertisement.ID, name: String?) {
    known.withLock { known in
      let name = name ?? known.first { $0.id == id }?.name
      known.removeAll { $0.id == id }
      known.insert(KnownDevice(id: id, name: name), at: 0)
    }
  }

  public func devices() -> [KnownDevice] { known.withLock { $0 } }

  public func forget(_ id: Advertisement.ID) { known.withLock { $0.removeAll { $0.id == id } } }
}
