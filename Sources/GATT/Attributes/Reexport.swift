// Clients usually start with an extension of `BluetoothUUID`, so one import should suffice.
@_exported import OtaflashATT
