internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The program that reads other programs' files in a sandbox, `kcbackup-read` (docs/reader.md).
///
/// ```swift
/// let reader = ReaderProgram(path: "/usr/libexec/kcbackup/kcbackup-read", spoolingIn: "/tmp")
/// let file = try reader.read(ReaderInput("export.json", now: now), secrets: secrets)
/// print(file.kind.title, file.contents.items.count)
/// ```
package struct ReaderProgram: Sendable {
    /// The path of the program.
    package let path: String
    /// False to read without a sandbox, where the kernel has none.
    package var isSandboxed = true
    /// How long a file may take; nil for as long as it takes.
    package var patience: Duration?
    private let temporaryFolder: String

    /// - Parameter temporaryFolder: where items wait, encrypted, that are too many for the memory.
    package init(path: String, spoolingIn temporaryFolder: String) {
        self.path = path
        self.temporaryFolder = temporaryFolder
    }

    /// The facts known of a file before it is read.
    package struct Choice {
        /// The format; nil to recognize it.
        package var kind: ForeignKind?
        /// The names of the columns of a table, if the user chose them.
        package var columns: [ChosenColumn: String] = [:]
        /// The key file that was given.
        package var keyFile: ReaderInput?
        /// True to find the records that can be taken out of the file.
        package var wantsRecords = false

        package init(_ kind: ForeignKind? = nil) { self.kind = kind }
    }

    /// A file that was read.
    package struct Reading {
        package let kind: ForeignKind
        package let contents: ForeignContents
        /// The records that can be taken out of the file; nil if they were not wanted, or if the format has none.
        package let records: SeparableRecords?
        /// True if the format wanted a key file.
        package let wantedKeyFile: Bool
    }

    /// The format of an input.
    ///
    /// - Throws: `ReaderFailure`, `ForeignFailure`, `FileFailure`, `StreamFailure`.
    package func recognise(_ input: ReaderInput, as kind: ForeignKind? = nil) throws -> ForeignKind {
        let talk = try talk(.recognise, input, Choice(kind), NoSecrets())
        let kind = try format(talk, kind)
        try talk.finish()
        return kind
    }

    /// The data that a keyring file shows without its password.
    ///
    /// - Throws: as `recognise`.
    package func outline(_ input: ReaderInput) throws -> KeyringOutline {
        let talk = try talk(.outline, input, Choice(), NoSecrets())
        guard try talk.next() == .outline else { throw talk.breach("another frame than an outline") }
        let outline = try talk.fields { fields, bytes throws(FieldReader.Breach) in
            KeyringOutline(
                label: try fields.text(in: bytes), itemCount: try fields.count(in: bytes),
                isOfOO7: try fields.flag(in: bytes))
        }
        try talk.finish()
        return outline
    }

    /// Reads an input to its end.
    ///
    /// - Parameter didRecognise: is told the format before a secret is asked for; reading ends with what it throws.
    /// - Throws: as `recognise`, `ItemLines.Failure`, `AgeFailure`, `CryptographyFailure`, and what `secrets` throws.
    package func read(
        _ input: ReaderInput, _ choice: Choice = Choice(), secrets: any ForeignSecrets,
        didRecognise: (ForeignKind) throws -> Void = { _ in }
    ) throws -> Reading {
        let talk = try talk(.read, input, choice, secrets)
        let kind = try format(talk, choice.kind)
        try didRecognise(kind)
        let (contents, records) =
            kind == .items
            ? (try lines(talk, date: input.date ?? .reference), nil) : try items(talk)
        try talk.finish()
        if [.chromium, .firefox].contains(kind) { try input.requireNoNewNeighbours() }
        return Reading(kind: kind, contents: contents, records: records, wantedKeyFile: talk.wantedKeyFile)
    }

    private func talk(
        _ verb: ReaderRequest.Verb, _ input: ReaderInput, _ choice: Choice, _ secrets: any ForeignSecrets
    ) throws -> ReaderTalk {
        var request = ReaderRequest(verb, isSandboxed: isSandboxed, ReaderRequest.Input(input))
        request.kind = choice.kind
        request.columns = choice.columns
        request.wantsRecords = choice.wantsRecords
        request.isPasswordGiven = secrets.isPasswordGiven
        request.hasPlugins = secrets.agePlugins != nil
        request.keyFile = choice.keyFile.map { ReaderRequest.Input($0) }
        let descriptors = input.descriptors + (choice.keyFile?.descriptors ?? [])
        // The inputs keep their descriptors open until the program has its own.
        return try withExtendedLifetime((input, choice)) {
            try ReaderTalk(path, request, passing: descriptors, secrets: secrets, patience: patience)
        }
    }

    private func format(_ talk: ReaderTalk, _ chosen: ForeignKind?) throws -> ForeignKind {
        guard try talk.next() == .format, let kind = talk.kind else { throw talk.breach("another frame than a format") }
        guard chosen == nil || chosen == kind else { throw talk.breach("another format than the chosen one") }
        return kind
    }

    /// Reads a file of items, which the reader hands over as it is: nothing has to be taken apart but its lines.
    private func lines(_ talk: ReaderTalk, date: Timestamp) throws -> ForeignContents {
        var text = SecretBytes(capacity: 65_536)
        while true {
            switch try talk.next() {
            case .text:
                guard text.count <= ForeignFile.sizeLimit - talk.content.count else {
                    throw talk.breach("more text than a file has")
                }
                talk.content.withBytes { text.append($0) }
            case .report:
                let file = ForeignFile(name: "", text, modified: date)
                let items = try ItemLines(ForeignFileSource(file: file), date: date)
                    .collected(spoolingIn: temporaryFolder)
                return ForeignContents(items: items, kind: "item", isPlaintext: true)
            default: throw talk.breach("another frame than text")
            }
        }
    }

    private func items(_ talk: ReaderTalk) throws -> (ForeignContents, SeparableRecords?) {
        var received = ReceivedItems(spoolingIn: temporaryFolder)
        var marked: [ItemUUID] = []
        while true {
            switch try talk.next() {
            case .item:
                guard received.count < ItemLimits.itemCount else {
                    throw ForeignFailure.limit(
                        "items", found: UInt64(received.count) + 1, allowed: UInt64(ItemLimits.itemCount))
                }
                try talk.withItem { item, secret in try received.add(item, secret: secret) }
            case .marked:
                guard marked.count < received.count else { throw talk.breach("more items are marked than there are") }
                marked.append(try talk.uuid())
            case .report:
                let report = try talk.proving { () throws(FieldReader.Breach) in
                    try talk.content.withBytes { bytes throws(FieldReader.Breach) in try ReaderReport(bytes) }
                }
                guard report.parts.allSatisfy({ $0.count <= received.count }),
                    report.parts.reduce(0, { $0 + $1.count }) == received.count
                else { throw talk.breach("a report of other items") }
                let items = try collect(received, talk)
                return (ForeignContents(report, items: items, marked: try named(marked, items, talk)), report.records)
            default: throw talk.breach("another frame than an item or a report")
            }
        }
    }

    /// The items with these UUIDs, in their order.
    private func named(_ uuids: [ItemUUID], _ items: CollectedItems, _ talk: ReaderTalk) throws -> [Item] {
        if uuids.isEmpty { return [] }
        var visitor = ItemsByUUID(Set(uuids))
        try items.visitItems(&visitor)
        return try uuids.map { uuid in
            guard let item = visitor.found[uuid] else { throw talk.breach("an item is marked that is not there") }
            return item
        }
    }

    private func collect(_ received: consuming ReceivedItems, _ talk: ReaderTalk) throws -> CollectedItems {
        do {
            return try received.finish()
        } catch is ItemCollection.Clash {
            throw talk.breach("two items with the same key or ID")
        }
    }
}

extension ReaderTalk {
    /// The UUID in the last frame.
    fileprivate func uuid() throws -> ItemUUID {
        let uuid = content.withBytes { ItemUUID(bytes: $0) }
        guard let uuid else { throw breach("no UUID") }
        return uuid
    }

    /// Passes the item in the last frame to `body`, once it is proved.
    fileprivate func withItem(_ body: (Item, borrowing Span<UInt8>) throws -> Void) throws {
        let (item, secret) = try proving { () throws(FieldReader.Breach) in
            try content.withBytes { bytes throws(FieldReader.Breach) in try ItemFrame.decode(bytes) }
        }
        try content.withBytes { try body(item, $0.extracting(secret)) }
    }
}

/// Finds items, of which it keeps what names them.
private struct ItemsByUUID: ItemVisitor {
    private let wanted: Set<ItemUUID>
    private(set) var found: [ItemUUID: Item] = [:]

    init(_ wanted: Set<ItemUUID>) { self.wanted = wanted }

    func wants(_ item: Item) -> Bool { wanted.contains(item.uuid) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        found[item.uuid] = item.shortened()
    }

    func skip(damaged item: Item?) {}
}

/// The secrets for what opens no file.
private struct NoSecrets: ForeignSecrets {
    var isPasswordGiven: Bool { false }

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        throw ForeignFailure.wrongPassword
    }

    func keyFile() -> ForeignFile? { nil }
}
