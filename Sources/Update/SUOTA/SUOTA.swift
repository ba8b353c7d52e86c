import OtaflashATT

/// The attributes of a SUOTA service (software update over the air) of Renesas, formerly Dialog.
struct SUOTAUUIDs: Equatable, Sendable {
  let service: BluetoothUUID
  /// MEM_DEV: commands.
  let memoryDevice: BluetoothUUID
  /// GPIO_MAP: the pins of the flash.
  let pins: BluetoothUUID
  /// MEM_INFO: the number of received bytes.
  let memoryInfo: BluetoothUUID
  /// PATCH_LEN: the length of a block.
  let patchLength: BluetoothUUID
  let patchData: BluetoothUUID
  /// SERV_STATUS: the status of the last operation.
  let status: BluetoothUUID
  let version: BluetoothUUID
  /// PATCH_DATA_CHAR_SIZE: the longest PATCH_DATA.
  let dataSize: BluetoothUUID

  /// The UUIDs of the SDKs, and of products that replace them.
  static let all = [
    SUOTAUUIDs(
      service: BluetoothUUID(0xFEF5), memoryDevice: "8082caa8-41a6-4021-91c6-56f9b954cc34",
      pins: "724249f0-5ec3-4b5f-8804-42345af08651",
      memoryInfo: "6c53db25-47a1-45fe-a022-7c92fb334fd4",
      patchLength: "9d84b9a3-000c-49d8-9183-855b673fda31",
      patchData: "457871e8-d516-4ca1-9116-57d0b17b9cb2",
      status: "5f78df94-798c-46f5-990a-b3eb6a065c88",
      version: "64b4e8b5-0de5-401b-a21d-acc8db3b913a",
      dataSize: "42c3dfdd-77be-4d9c-8454-8f875267fb3b"),
    SUOTAUUIDs(
      service: "d20697cb-fab2-41f9-82c3-d36af65fbb26",
      memoryDevice: "d20697cc-fab2-41f9-82c3-d36af65fbb26",
      pins: "d20697cd-fab2-41f9-82c3-d36af65fbb26",
      memoryInfo: "d20697ce-fab2-41f9-82c3-d36af65fbb26",
      patchLength: "d20697cf-fab2-41f9-82c3-d36af65fbb26",
      patchData: "d20697d0-fab2-41f9-82c3-d36af65fbb26",
      status: "d20697d1-fab2-41f9-82c3-d36af65fbb26",
      version: "d20697d3-fab2-41f9-82c3-d36af65fbb26",
      dataSize: "d20697d5-fab2-41f9-82c3-d36af65fbb26"),
  ]
}

extension UpdateProtocol {
  /// Renesas' SUOTA service.
  public static let suota = UpdateProtocol(
    "suota",
    carrying: "a SUOTA image (a .img file that starts with 70 51, 70 61 or 51 71 and a version)")
}
