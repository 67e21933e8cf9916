internal import KCByteStreams
internal import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel
internal import KCTarArchive

/// The contents of `kcbackup.json`, the part of an archive that can be read without a key.
package struct ArchiveHeader: Hashable, Sendable {
    /// The newest format version that this program writes and reads.
    package static let currentVersion: Int64 = 1

    /// 32 random bytes, unique to this archive.
    package let archiveID: [UInt8]
    /// The time when the archive was made, according to the clock of its device.
    package let created: Timestamp
    /// The device that made and signed it.
    package let device: DeviceID
    /// The name and version of the program that made it.
    package let tool: String
    /// In unencrypted archives only: the data needed to restore the stored rows.
    package let store: Store?

    /// How the archive is protected.
    package var mode: ArchiveMode { store == nil ? .encrypted : .unencrypted }

    /// The description of the keychain in an unencrypted archive, and the number of its items.
    package struct Store: Hashable, Sendable {
        /// The keychain whose stored secrets it holds.
        package let keychain: StoredKeychain
        /// The numbers of items in the archive.
        package let counts: ItemCounts

        /// Creates a description.
        package init(keychain: StoredKeychain, counts: ItemCounts) {
            self.keychain = keychain
            self.counts = counts
        }
    }

    /// Creates a header; the archive is unencrypted if `store` is given.
    package init(archiveID: [UInt8], created: Timestamp, device: DeviceID, tool: String, store: Store?) {
        precondition(archiveID.count == 32, "an archive ID has 32 bytes")
        self.archiveID = archiveID
        self.created = created
        self.device = device
        self.tool = tool
        self.store = store
    }

    /// The exact bytes of `kcbackup.json`.
    func encoded() -> [UInt8] {
        var line: [UInt8] = []
        CanonicalJSON.literal(
            "\(Self.start)\(Self.currentVersion),\"mode\":\"\(mode.rawValue)\",\"archive\":\"",
            into: &line)
        CanonicalJSON.literal(Hexadecimal.encode(archiveID), into: &line)
        CanonicalJSON.literal("\",\"created\":\"\(created)\",\"device\":\"\(device)\",\"tool\":", into: &line)
        CanonicalJSON.string(tool, into: &line)
        if let store {
            let storeID = Hexadecimal.encode(store.keychain.storeID)
            CanonicalJSON.literal(",\"store\":\"\(storeID)\",\"keybag\":", into: &line)
            CanonicalJSON.string(store.keychain.keybag, into: &line)
            CanonicalJSON.literal(",\"counts\":", into: &line)
            store.counts.encode(into: &line)
        }
        CanonicalJSON.literal("}\n", into: &line)
        return line
    }

    /// Reads `kcbackup.json`.
    ///
    /// - Throws: `ArchiveFailure`: `notAnArchive`, `newerFormat`, `damaged`.
    init(parsing bytes: borrowing Span<UInt8>) throws(ArchiveFailure) {
        try Self.refuseNewerFormat(bytes)
        var scanner = CanonicalScanner()
        do throws(MalformedLine) {
            try scanner.literal("\(Self.start)\(Self.currentVersion)", in: bytes)
            self = try Self.members(&scanner, in: bytes)
        } catch {
            throw .damaged(rule: "\(ArchiveMember.header.name): \(error.rule)")
        }
    }

    /// Checks only the beginning of `kcbackup.json`, which is the same in every version of the format.
    ///
    /// - Throws: `ArchiveFailure`: `notAnArchive`, `newerFormat`.
    static func refuseNewerFormat(_ bytes: borrowing Span<UInt8>) throws(ArchiveFailure) {
        var scanner = CanonicalScanner()
        guard scanner.skip(start, in: bytes) else { throw .notAnArchive }
        // Byte by byte, since a version beyond 64 bits is also a newer one.
        var digits = ""
        var isLong = false
        for index in scanner.position..<bytes.count {
            guard (48...57).contains(bytes[index]) else { break }
            if digits.count < 20 { digits.unicodeScalars.append(Unicode.Scalar(bytes[index])) } else { isLong = true }
        }
        // A number that is not canonical is reported when the complete header is read.
        guard let first = digits.first, first != "0" else { return }
        guard !isLong, let version = Int64(digits), version <= currentVersion else {
            throw .newerFormat(found: isLong ? "\(digits)…" : digits, known: currentVersion)
        }
    }

    private static let start = "{\"format\":\"kcbackup\",\"version\":"

    private static func members(
        _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> ArchiveHeader {
        try scanner.literal(",\"mode\":", in: bytes)
        guard let mode = ArchiveMode(rawValue: try scanner.string(in: bytes)) else {
            throw MalformedLine("the mode is unknown", at: scanner.position)
        }
        try scanner.literal(",\"archive\":", in: bytes)
        let archiveID = try hex(count: 32, &scanner, in: bytes)
        try scanner.literal(",\"created\":", in: bytes)
        guard let created = Timestamp(try scanner.string(in: bytes)) else {
            throw MalformedLine("the date is not canonical", at: scanner.position)
        }
        guard (0...TarProfile.timeLimit).contains(created.seconds) else {
            throw MalformedLine("the date is not between 1970 and 2242", at: scanner.position)
        }
        try scanner.literal(",\"device\":", in: bytes)
        let deviceText = try scanner.string(in: bytes)
        guard let device = DeviceID(deviceText), device.description == deviceText else {
            throw MalformedLine("the device ID is not canonical", at: scanner.position)
        }
        try scanner.literal(",\"tool\":", in: bytes)
        let tool = try scanner.string(in: bytes)
        let store = mode == .unencrypted ? try store(&scanner, in: bytes) : nil
        try scanner.literal("}\n", in: bytes)
        try scanner.end(in: bytes)
        return ArchiveHeader(
            archiveID: archiveID, created: created, device: device, tool: tool, store: store)
    }

    private static func store(
        _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> Store {
        try scanner.literal(",\"store\":", in: bytes)
        let storeID = try hex(count: 16, &scanner, in: bytes)
        try scanner.literal(",\"keybag\":", in: bytes)
        let keybag = try scanner.string(in: bytes)
        try scanner.literal(",\"counts\":", in: bytes)
        return Store(
            keychain: StoredKeychain(storeID: storeID, keybag: keybag), counts: try ItemCounts(&scanner, in: bytes))
    }

    /// Reads a quoted string of `count` bytes in lower-case hexadecimal.
    static func hex(
        count: Int, _ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>
    ) throws(MalformedLine) -> [UInt8] {
        let text = try scanner.string(in: bytes)
        guard let decoded = Hexadecimal.decode(text), decoded.count == count, Hexadecimal.encode(decoded) == text else {
            throw MalformedLine("\(count) bytes in lower-case hexadecimal are expected", at: scanner.position)
        }
        return decoded
    }
}
