internal import KCByteStreams
internal import KCCryptography

/// The contents of a device key file: comments, one line with the key, one line about the machine.
///
/// ```
/// # kcbackup device key of KC-…
/// KCBACKUP-DEVICE-KEY-1…
/// machine 64 hexadecimal digits, or none
/// ```
///
/// The key is 32 bytes in upper-case Bech32. Empty lines and lines that begin with `#` are skipped; any other line is
/// refused.
struct DeviceKeyText: ~Copyable {
    /// A key file has about 350 bytes; the rest is room for comments.
    static let sizeLimit = 4096
    private static let prefix = "kcbackup-device-key-"
    private static let machineWord = "machine "

    /// The 32 random bytes.
    let secret: SecretBytes
    /// The machine on which the key was created or adopted.
    let machine: MachineIdentity

    init(secret: consuming SecretBytes, machine: MachineIdentity) {
        self.secret = secret
        self.machine = machine
    }

    /// Parses the text of a file.
    ///
    /// - Throws: `Malformed` with the violated rule.
    init(parsing text: borrowing SecretBytes) throws(Malformed) {
        var secret = SecretBytes(capacity: DeviceKey.secretLength)
        var machine: MachineIdentity?
        try text.withBytes { bytes throws(Malformed) in
            try bytes.forEachLine { line, _ throws(Malformed) in
                if line.isEmpty || line[0] == UInt8(ascii: "#") { return }
                if let found = try Self.machine(line) {
                    guard machine == nil else { throw Malformed(rule: "it has two lines about the machine") }
                    machine = found
                } else {
                    guard secret.isEmpty else { throw Malformed(rule: "it has a line too many") }
                    guard Bech32.decode(line, prefix: Self.prefix, uppercase: true, into: &secret),
                        secret.count == DeviceKey.secretLength
                    else { throw Malformed(rule: "a line is neither a device key nor about the machine") }
                }
            }
        }
        guard !secret.isEmpty else { throw Malformed(rule: "it has no key") }
        guard let machine else { throw Malformed(rule: "it has no line about the machine") }
        self.init(secret: secret, machine: machine)
    }

    /// Encodes the text of a file.
    func encode(device: DeviceID) -> SecretBytes {
        var text = SecretBytes(capacity: Self.sizeLimit)
        text.append(
            """
            # kcbackup device key of \(device)
            # Keep a copy in a safe place, and show it to nobody: keychains and unencrypted archives
            # of this device cannot be opened without it.

            """.utf8.span)
        secret.withBytes { Bech32.encode(prefix: Self.prefix, $0, uppercase: true, into: &text) }
        text.append("\nmachine \(machine.description)\n".utf8.span)
        return text
    }

    /// Parses the line about the machine; nil if the line is about something else.
    private static func machine(_ line: borrowing Span<UInt8>) throws(Malformed) -> MachineIdentity? {
        guard line.starts(with: machineWord) else { return nil }
        let value = String(decoding: (machineWord.utf8.count..<line.count).map { line[$0] }, as: UTF8.self)
        guard let machine = MachineIdentity(parsing: value) else {
            throw Malformed(rule: "its line about the machine is not a hash")
        }
        return machine
    }

    /// The text is not a device key.
    struct Malformed: Error {
        /// The violated rule.
        let rule: String
    }
}
