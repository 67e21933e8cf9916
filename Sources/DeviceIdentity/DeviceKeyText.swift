internal import ByteStreams
internal import Cryptography

/// The text form of `device.key`: comments, one checksummed line with the key, one line with the machine's hash.
struct DeviceKeyText: ~Copyable {
    static let prefix = "KCBACKUP-DEVICE-KEY-"
    private static let machineStart = "machine: "
    private static let noMachine = "none"

    let secret: SecretBytes
    let machine: MachineHash?

    /// Writes the form that `init(parsing:path:)` reads.
    static func render(_ secret: borrowing SecretBytes, machine: MachineHash?) -> SecretBytes {
        var text = SecretBytes(capacity: 512)
        text.append(
            text: """
                # The device key of kcbackup: this file is what makes this installation this device.
                # Keep it private. Without it this device's keychains and ThisDeviceOnly items cannot be opened.

                """)
        secret.withBytes { Bech32.encode($0, prefix: prefix, into: &text) }
        text.append(text: "\n\(machineStart)\(machine?.digest.hex ?? noMachine)\n")
        return text
    }

    /// Reads the form; `path` is for the error.
    static func parse(_ text: borrowing SecretBytes, path: String) throws(DeviceKeyFailure) -> DeviceKeyText {
        var secret = SecretBytes(capacity: DeviceKey.length)
        var machine: MachineHash?
        var machineLines = 0
        try text.forEachLine { _, line throws(DeviceKeyFailure) in
            if line.isEmpty || line.starts(with: "#") { return }
            if line.starts(with: machineStart) {
                machineLines += 1
                machine = try parseMachine(line.extracting(machineStart.utf8.count...), path)
                return
            }
            guard secret.isEmpty else { throw .malformed(path: path, rule: "there is one key line") }
            do throws(Bech32Failure) {
                try Bech32.decode(line, prefix: prefix, into: &secret)
            } catch {
                let rule = error == .checksum ? "the checksum fits" : "every line is a comment, the key or the machine"
                throw .malformed(path: path, rule: rule)
            }
        }
        guard secret.count == DeviceKey.length else { throw .malformed(path: path, rule: "the key has 32 bytes") }
        guard machineLines == 1 else { throw .malformed(path: path, rule: "there is one machine line") }
        return DeviceKeyText(secret: secret, machine: machine)
    }

    private static func parseMachine(
        _ value: borrowing Span<UInt8>, _ path: String
    ) throws(DeviceKeyFailure) -> MachineHash? {
        let text = value.text() ?? ""
        if text == noMachine { return nil }
        guard let digest = SHA256Digest(hex: text) else {
            throw .malformed(path: path, rule: "the machine is a SHA-256 or none")
        }
        return MachineHash(digest: digest)
    }
}
