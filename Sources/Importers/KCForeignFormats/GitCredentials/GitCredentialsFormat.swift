internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The file of `git credential-store`: one address per line, with user and password before the `@`.
///
/// Source: git-credential-store(1), and `credential.c` of git, which decodes each part after splitting the address.
package struct GitCredentialsFormat: SeparableFormat {
    package let kind = ForeignKind.gitCredentials

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { bytes in
            var lines = Lines(bytes.count)
            while let first = lines.next(in: bytes) {
                if CredentialLine.isWithoutHost(first.range, in: bytes) { continue }
                guard let line = CredentialLine(first.range, in: bytes) else { return false }
                return line.password != nil || line.isToken(in: bytes)
            }
            return false
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        try file.bytes.withBytes { bytes throws(ForeignFailure) in
            var lines = Lines(bytes.count)
            while let line = lines.next(in: bytes) {
                if CredentialLine.isWithoutHost(line.range, in: bytes) {
                    collector.leaveOut("address without a host")
                    continue
                }
                try collector.record("line \(line.number)") { () throws(ForeignFailure) in
                    guard let parts = CredentialLine(line.range, in: bytes) else {
                        throw .damagedLine(line.number, "it is not a URL with a host")
                    }
                    try Self.add(parts, line.number, to: collector, bytes)
                }
            }
        }
        return try collector.finish(details: "", isPlaintext: true)
    }

    /// As `git credential-store` does (lockfile.h of git).
    package func separableRecords(of file: ForeignFile) -> SeparableRecords {
        file.bytes.withBytes { bytes in
            var whole: [Range<Int>] = []
            var staying = 0
            var lines = Lines(bytes.count)
            while let line = lines.next(in: bytes) {
                do throws(ForeignFailure) {
                    // A line that no item is made of has no password, or one that no other program asks for.
                    guard !CredentialLine.isWithoutHost(line.range, in: bytes) else { continue }
                    guard let parts = CredentialLine(line.range, in: bytes) else {
                        staying += 1
                        continue
                    }
                    guard parts.password != nil || parts.isToken(in: bytes) else { continue }
                    if try parts.draft(in: bytes, line.number).isCut { staying += 1 } else { whole.append(line.range) }
                } catch {
                    staying += 1
                }
            }
            return SeparableRecords(whole, staying: staying)
        }
    }

    private static func add(
        _ parts: CredentialLine, _ line: Int, to collector: RecordCollector, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        guard parts.password != nil || parts.isToken(in: bytes) else {
            return collector.leaveOut("address without a password")
        }
        let (draft, isCut) = try parts.draft(in: bytes, line)
        if isCut { collector.leaveOut("part of an address behind '?', '#' or ';'") }
        let names = [AttributeCode.srvr, .acct, .path].map { draft.attributes.text($0) ?? "" }
        let port = draft.attributes.number(.port).map(String.init) ?? ""
        let key = RecordWriter.identity(of: names + [port, parts.scheme])
        let ordinal = collector.ordinal(of: key)
        for (kind, range) in parts.secrets(in: bytes) {
            try collector.add(
                RecordPart(
                    kind, draft, secret: bytes.percentDecoded(range),
                    record: key, ordinal: RecordPart.Ordinal(record: ordinal), part: kind, name: names[0]))
        }
    }
}

/// An address, split as git splits it.
private struct CredentialLine {
    let scheme: String
    let user: Range<Int>
    /// Nil if there is none, as distinct from an empty one.
    let password: Range<Int>?
    let host: Range<Int>
    /// All that follows the host.
    let path: Range<Int>

    /// True for an address with a path but no host: git keeps the passwords of certificates' files as
    /// `cert://:password@/path`.
    static func isWithoutHost(_ line: Range<Int>, in bytes: borrowing Span<UInt8>) -> Bool {
        guard let colon = line.first(where: { bytes[$0] == UInt8(ascii: ":") }), colon > line.lowerBound,
            colon + 3 < line.upperBound, bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/"),
            let end = (colon + 3..<line.upperBound).first(where: { bytes[$0] == UInt8(ascii: "/") })
        else { return false }
        return end == colon + 3 || bytes[end - 1] == UInt8(ascii: "@")
    }

    init?(_ line: Range<Int>, in bytes: borrowing Span<UInt8>) {
        func first(_ characters: String, _ range: Range<Int>) -> Int? {
            range.first { characters.utf8.contains(bytes[$0]) }
        }
        guard let colon = first(":", line), colon > line.lowerBound, colon + 2 < line.upperBound,
            bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/"),
            (line.lowerBound..<colon).allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[$0] | 0x20) })
        else { return nil }
        scheme = String(decoding: (line.lowerBound..<colon).map { bytes[$0] | 0x20 }, as: UTF8.self)
        let start = colon + 3
        let end = first("/?#", start..<line.upperBound) ?? line.upperBound
        guard let at = first("@", start..<end) else { return nil }
        let middle = first(":", start..<at)
        user = start..<(middle ?? at)
        password = middle.map { $0 + 1..<at }
        host = at + 1..<end
        guard !host.isEmpty else { return nil }
        path = end..<line.upperBound
    }

    /// True if an access token is in the place of the user name.
    func isToken(in bytes: borrowing Span<UInt8>) -> Bool {
        let password = password.map { bytes.percentDecoded($0) }
        return bytes.percentDecoded(user).withBytes { AccessToken.isToken($0, password: password) }
    }

    /// The secret parts, by kind.
    func secrets(in bytes: borrowing Span<UInt8>) -> [(kind: String, range: Range<Int>)] {
        let password = password.map { ("password", $0) }
        guard isToken(in: bytes) else { return password.map { [$0] } ?? [] }
        let isSpare = AccessToken.isSpare(self.password.map { bytes.percentDecoded($0) })
        return [("access token", user)] + (isSpare ? [] : password.map { [$0] } ?? [])
    }

    /// The item without its secret, and whether a part of the path, which may be a secret, is missing in it.
    func draft(
        in bytes: borrowing Span<UInt8>, _ line: Int
    ) throws(ForeignFailure) -> (item: ItemDraft, isCut: Bool) {
        func text(_ range: Range<Int>) throws(ForeignFailure) -> String {
            guard let text = bytes.percentDecoded(range).utf8Text else {
                throw .damagedLine(line, "its names are not UTF-8")
            }
            return text
        }
        // git percent-encodes the colon of a port. The part that git takes for the host may have the end of a
        // password in it.
        let host = try text(host)
        guard !host.utf8.contains(where: "@/?#;".utf8.contains), let address = WebAddress("\(scheme)://\(host)") else {
            throw .damagedLine(line, "its host is not one; a password has '%40' for each '@', and '%2F' for each '/'")
        }
        var draft = ItemDraft(itemClass: .internetPassword)
        if !isToken(in: bytes) { draft.attributes[.acct] = .text(try text(user)) }
        address.describe(&draft)
        let whole = try text(path)
        let path = String(WebAddress.beforeQuery(whole[...]))
        if !path.isEmpty, path != "/" { draft.attributes[.path] = .text(path) }
        draft.attributes[.labl] = .text(address.host)
        draft.extra = [ExtraAttribute(name: "source.format", value: "git-credentials")]
        return (draft, path.utf8.count < whole.utf8.count)
    }
}
