internal import KCAgeEncryption
package import KCByteStreams
package import KCDeviceIdentity
internal import KCKeychainModel

/// The recovery kits of this device, in a `StateFile` next to the device key.
///
/// ```
/// kit age1…
/// made 2026-11-21T03:00:07.120000Z
/// printed no
/// checked 2026-11-22T10:00:00.000000Z
/// shares 2of3
/// share 1 2026-11-22T10:00:00.000000Z
/// comment in the safe
/// ```
package struct RecoveryKits: Sendable {
    /// The maximum number of kits, retired ones included.
    package static let countLimit = 100

    private static let kind = StateFile.Kind("recovery-kits", version: 1)
    private let file: StateFile

    /// Locates the file that `device` keeps next to the key file at `keyPath`.
    package init(besideKeyAt keyPath: String, of device: DeviceKey) {
        file = StateFile(Self.path(besideKeyAt: keyPath, of: device.id), Self.kind, about: "", of: device)
    }

    /// True if a device has a list, whose MAC is not checked.
    package static func exist(besideKeyAt keyPath: String, of device: DeviceID) throws(FileFailure) -> Bool {
        try Path.exists(path(besideKeyAt: keyPath, of: device))
    }

    private static func path(besideKeyAt keyPath: String, of device: DeviceID) -> String {
        "\(Path.split(keyPath).folder)/recovery-kits-\(device)"
    }

    /// The kits, oldest first; none if the file is missing.
    package func list() throws(StateFileFailure) -> [RecoveryKit] {
        guard let body = try file.read() else { return [] }
        guard let fields = StateFields(parsing: body), let kits = Self.kits(fields) else {
            throw .otherFormat(path: file.path)
        }
        return kits
    }

    /// Reads the kits, changes them, and writes them, under a lock.
    ///
    /// - Parameter body: what it throws leaves the file as it was.
    /// - Throws: `StateFileFailure`, and what `body` throws.
    package func change<Result>(_ body: (inout [RecoveryKit]) throws -> Result) throws -> Result {
        let lock = try failing(as: StateFileFailure.file, FileLock.ofFolder(Path.split(file.path).folder))
        defer { withExtendedLifetime(lock) {} }
        let before = try list()
        var kits = before
        let result = try body(&kits)
        if kits != before { try file.write(Self.fields(kits).encoded) }
        return result
    }

    static func fields(_ kits: [RecoveryKit]) -> StateFields {
        var fields = StateFields()
        for kit in kits {
            fields.add("kit", kit.recipient.description)
            fields.add("made", kit.made.description)
            if !kit.isPrinted { fields.add("printed", "no") }
            fields.add("checked", kit.checkedWhole?.description)
            fields.add("retired", kit.retired?.description)
            fields.add("shares", kit.shares?.description)
            for (number, date) in kit.checkedShares.sorted(by: { $0.key < $1.key }) {
                fields.add("share", "\(number) \(date)")
            }
            if !kit.comment.isEmpty { fields.add("comment", kit.comment) }
        }
        return fields
    }

    /// Parses what `fields` returns; nil for anything else.
    static func kits(_ fields: StateFields) -> [RecoveryKit]? {
        var kits: [RecoveryKit] = []
        var groups: [[StateFields.Field]] = []
        for field in fields.fields {
            if field.name.exact == "kit" { groups.append([]) }
            guard !groups.isEmpty else { return nil }
            groups[groups.count - 1].append(field)
        }
        for group in groups {
            func value(_ name: String) -> String? { group.first { $0.name.exact == name.exact }?.value }
            guard let recipient = value("kit").flatMap(NativeRecipient.init), !recipient.isOnToken,
                let made = value("made").flatMap(Timestamp.init)
            else { return nil }
            var kit = RecoveryKit(
                recipient, made: made, comment: value("comment") ?? "",
                shares: value("shares").flatMap(ShareScheme.init))
            kit.checkedWhole = value("checked").flatMap(Timestamp.init)
            for field in group where field.name.exact == "share" {
                let words = field.value.exact.split(separator: " ", maxSplits: 1)
                guard words.count == 2, let number = Int(words[0]), let date = Timestamp(words[1]) else { return nil }
                kit.check(at: date, shares: [number])
            }
            kit.retired = value("retired").flatMap(Timestamp.init)
            kit.isPrinted = value("printed") == nil
            kits.append(kit)
        }
        // Every list has exactly one spelling, so this detects lines that were not read.
        return self.fields(kits) == fields ? kits : nil
    }
}
