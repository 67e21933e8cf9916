internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The tokens of FreeOTP, as the app keeps them and backups of a phone have them: settings in XML, each a token in JSON.
///
/// Source: freeotp/freeotp-android, `TokenPersistence.java` and `Token.java` of version 1.
package struct FreeOTPFormat: ForeignFormat {
    package let kind = ForeignKind.freeOTP

    /// The number of bytes in which the first token begins.
    private static let headSize = 8_192

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { bytes in
            let head = bytes.extracting(..<min(bytes.count, Self.headSize))
            // In an attribute or between tags, a quotation mark may be escaped.
            let isToken = ["issuerExt", "issuerInt", "tokenOrder"].contains { head.holds($0) }
            return bytes.hasRoot("map") && head.holds("<string ") && isToken
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let document = try XMLDocument.reading(file)
        let collector = RecordCollector(format: name, date: file.modified)
        var others: [String] = []
        for element in document.children(of: document.root) {
            let name = element.attributes["name"] ?? ""
            // The order in which the app shows them.
            if name == "tokenOrder" { continue }
            guard element.name == "string" else {
                others.append(element.name)
                continue
            }
            let text = document.withText(of: element) { SecretBytes($0) }
            try collector.record(name.isEmpty ? "a token" : name) { () throws(ForeignFailure) in
                try add(text, to: collector)
            }
        }
        collector.leaveOut(unknown: others)
        return try collector.finish(details: "", isPlaintext: true)
    }

    /// Adds a token; the first versions of the app kept its address.
    private func add(_ text: borrowing SecretBytes, to collector: RecordCollector) throws(ForeignFailure) {
        if let parts = OneTimePasswordParts(text) {
            let record = RecordWriter(
                collector, issuer: parts.issuer ?? "", user: parts.userName, parts.parameters)
            try record.addUser(parts.userName)
            return try record.addOneTimePassword(text)
        }
        let json = try ForeignJSON(text.copy())
        try FreeOTPReader(json: json, collector: collector).add(json.root)
        collector.leaveOut(unknown: json.unread)
    }
}
