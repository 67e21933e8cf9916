internal import KCByteStreams
package import KCDeviceIdentity

/// The number of the last receipt of this device, in a `StateFile` next to its key.
///
/// A home folder that was put back, or copied to a second machine, gives out numbers a second time, which the report of
/// the fleet shows.
package struct ReceiptSequence: Sendable {
    private static let kind = StateFile.Kind("receipt-sequence", version: 1)

    private let file: StateFile

    /// The path of the file.
    package var path: String { file.path }

    /// Locates the file that `device` keeps next to the key file at `keyPath`.
    package init(besideKeyAt keyPath: String, of device: DeviceKey) {
        file = StateFile(
            "\(Path.split(keyPath).folder)/receipt-sequence-\(device.id)", Self.kind, about: "", of: device)
    }

    /// Returns a number that is greater than all before it; it counts as used, whatever becomes of its receipt.
    package func next() throws(StateFileFailure) -> Int64 {
        let lock = try failing(as: StateFileFailure.file, FileLock.ofFolder(Path.split(file.path).folder))
        defer { withExtendedLifetime(lock) {} }
        let number = try last() + 1
        var fields = StateFields()
        fields.add("last", String(number))
        try file.write(fields.encoded)
        return number
    }

    /// Returns the last number that was used; 0 for none.
    package func last() throws(StateFileFailure) -> Int64 {
        guard let body = try file.read() else { return 0 }
        guard let values = StateFields(parsing: body)?.values("last"), values.count == 1,
            let number = Int64(values[0]),
            0..<Int64.max ~= number
        else { throw .otherFormat(path: file.path) }
        return number
    }
}
