// Programs usually start with an extension of `BluetoothUUID`, so one import should be sufficient.
@_exported import OtaflashATT
