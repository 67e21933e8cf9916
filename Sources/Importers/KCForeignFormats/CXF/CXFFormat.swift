internal import KCByteStreams
internal import KCExportFormats
package import KCItemSources
internal import KCKeychainModel

/// JSON in the Credential Exchange Format 1.0 of the FIDO Alliance, and in its drafts; alone, or in a zip file with the
/// files that belong to it.
package struct CXFFormat: ForeignFormat {
    package let kind = ForeignKind.cxf

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        if let names = try ForeignZip.names(in: input) { return try CXFArchive.isOne(file, names) }
        let isObject = file.bytes.withBytes { bytes in
            bytes.indices.prefix(64).first { ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains(bytes[$0]) }
                .map { bytes[$0] == UInt8(ascii: "{") } ?? false
        }
        guard isObject else { return false }
        do throws(ForeignFailure) {
            return Self.accounts(try ForeignJSON(file)) != nil
        } catch {
            return false
        }
    }

    package func problem(with input: ForeignInput) -> ForeignFailure? {
        guard let file = input.file else { return nil }
        do throws(ForeignFailure) {
            _ = try ForeignJSON(file)
            return nil
        } catch {
            return error
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        let isZip = try ForeignZip.names(in: input) != nil
        let archive = isZip ? try CXFArchive(file) : nil
        var exporter = ""
        for (document, files) in try archive?.documents() ?? [(ForeignJSON(file), nil)] {
            try add(document, files, to: collector)
            exporter = document.text(document.root["exporterDisplayName"]) ?? exporter
        }
        archive?.zip.countRest(in: collector)
        return try collector.finish(details: exporter.isEmpty ? "" : "from '\(exporter)'", isPlaintext: true)
    }

    private func add(
        _ document: ForeignJSON, _ files: CXFFiles?, to collector: RecordCollector
    ) throws(ForeignFailure) {
        guard let accounts = Self.accounts(document) else { throw .notOfFormat(title: title) }
        if let major = document.integer(document.root["version"]?["major"]), major > 1 {
            throw .unknownVariant("version \(major) of the format")
        }
        for account in accounts { try CXFRecords(document, account, files, collector).add() }
        // They describe the export, not records.
        document.skip("version", "exporterRpId", "timestamp", of: document.root)
        _ = document.text(document.root["exporterDisplayName"])
        collector.leaveOut(unknown: document.unread)
    }

    /// The accounts of a complete document, or of one that consists of a single account; nil for anything else.
    static func accounts(_ document: ForeignJSON) -> [ForeignJSON.Value]? {
        let root = document.root
        if let accounts = root["accounts"], accounts.isArray, root["exporterRpId"] != nil || root["version"] != nil {
            return accounts.values
        }
        guard let items = root["items"], items.isArray, root["encrypted"] == nil else { return nil }
        return items.values.contains { $0["credentials"]?.isArray ?? false } ? [root] : nil
    }
}

extension CXF {
    /// Decodes base64url; nil if the text is invalid.
    static func decode(_ text: borrowing SecretBytes) -> SecretBytes? {
        var plain = SecretBytes(capacity: text.count + 4)
        text.withBytes { bytes in
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
                case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
                // Some programs write padding although the format forbids it.
                case UInt8(ascii: "="): break
                default: plain.append(bytes[index])
                }
            }
        }
        var bytes = SecretBytes(capacity: plain.count)
        guard plain.withBytes({ Base64.decode($0, padded: false, into: &bytes) }) else { return nil }
        return consume bytes
    }

    /// The spelling of a type in version 1.0; drafts have `BasicAuth` for `basic-auth`.
    static func typeName(_ text: String) -> String {
        guard text.first?.isUppercase ?? false, !text.exact.contains("-") else { return text }
        var name = ""
        for character in text {
            if character.isUppercase, !name.isEmpty { name += "-" }
            name += character.lowercased()
        }
        return name
    }
}
