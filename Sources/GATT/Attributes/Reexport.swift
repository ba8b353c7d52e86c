// An extension of `BluetoothUUID` is among the first lines of every client: one import is enough.
@_exported import OtaflashATT
