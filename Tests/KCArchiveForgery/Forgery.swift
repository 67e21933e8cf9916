package import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCCryptography
package import KCDeviceIdentity
import KCGzipStreams
import KCKeychainModel
import KCTarArchive
import KCTestSupport

/// An archive split into its lines, which can be changed and put together again.
///
/// Hashes, checksums, encryption and signature are genuine again afterwards, so a failure is caused by the change
/// alone.
package struct Forgery {
    /// The text of `kcbackup.json`.
    package var header: String
    /// The bytes of `identity.age`.
    package var identity: [UInt8]?
    /// Lines without line feeds.
    package var metadata: [String]
    package var secrets: [String]
    package var signer: DeviceKey
    package var metadataRecipients: [any Recipient]
    package var secretsRecipients: [any Recipient]
    package var isEncrypted: Bool

    /// True to adapt the counts and hashes to the lines.
    package var recounts = true
    package var relinks = true
    /// Applied once the hashes are set; a change of the secrets' last line is still covered by the metadata's.
    package var changeSecretsEnd: (String) -> String = { $0 }
    package var changeMetadataEnd: (String) -> String = { $0 }
    /// Compress the streams before encryption; the argument is the complete text.
    package var compressMetadata: ([UInt8]) -> [UInt8] = { storedGzip($0) }
    package var compressSecrets: ([UInt8]) -> [UInt8] = { storedGzip($0) }
    /// Changes the members before the checksums are computed and signed.
    package var arrange: (inout [TarEntry]) -> Void = { _ in }
    package var spellChecksums: (String) -> String = { $0 }
    package var namespace = "kcbackup"
    /// Changes the members at the very end, including the checksums and the signature.
    package var rearrange: (inout [TarEntry]) -> Void = { _ in }

    /// Splits a genuine archive into its parts.
    package init(_ archive: SampleArchive) throws {
        let file = try OpenFile.reading(archive.path)
        var members: [String: [UInt8]] = [:]
        for member in try TarDirectory.read(file).members {
            members[member.name] = try drain(FileSlice(file, offset: member.offset, length: member.length))
        }
        func required(_ name: String) throws -> [UInt8] {
            guard let bytes = members[name] else { throw ArchiveFailure.damaged(rule: "'\(name)' is missing") }
            return bytes
        }
        func lines(_ name: String) throws -> [String] {
            let text: [UInt8]
            if let encrypted = members[name + ".age"] {
                let source = try AgeDecryptor(MemorySource(copying: encrypted), identities: [archive.identity])
                text = try drain(GzipDecoder(source, outputLimit: 1 << 24))
            } else {
                text = try drain(
                    GzipDecoder(MemorySource(copying: try required(name)), outputLimit: 1 << 24))
            }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        header = String(decoding: try required("kcbackup.json"), as: UTF8.self)
        identity = members["identity.age"]
        metadata = try lines("metadata.jsonl.gz")
        secrets = try lines("secrets.jsonl.gz")
        signer = archive.device
        isEncrypted = archive.mode == .encrypted
        metadataRecipients = [archive.identity.recipient]
        secretsRecipients = [archive.identity.recipient]
    }

    /// The bytes of the archive with all changes.
    package func bytes() throws -> [UInt8] {
        var linked = self
        if recounts { linked.recount() }
        if relinks { linked.link() }
        let time = linked.created
        var entries = [TarEntry("kcbackup.json", Array(linked.header.utf8), time: time)]
        if let identity { entries.append(TarEntry("identity.age", identity, time: time)) }
        for (name, lines, compress, recipients) in [
            ("metadata.jsonl.gz", linked.metadata, compressMetadata, metadataRecipients),
            ("secrets.jsonl.gz", linked.secrets, compressSecrets, secretsRecipients),
        ] {
            let compressed = compress(Self.text(lines))
            entries.append(
                isEncrypted
                    ? TarEntry(name + ".age", try ageFile(compressed, to: recipients), time: time)
                    : TarEntry(name, compressed, time: time))
        }
        arrange(&entries)
        let sums = entries.map { "\(SHA256.hash($0.bytes.span).hex)  \($0.name)\n" }.joined()
        let checksums = Array(spellChecksums(sums).utf8)
        entries.append(TarEntry("SHA256SUMS", checksums, time: time))
        entries.append(
            TarEntry("SHA256SUMS.sig", try sshSignature(checksums, by: signer, namespace: namespace), time: time))
        rearrange(&entries)
        return tar(entries)
    }

    /// Replaces text in the line of the item whose metadata line contains `name`.
    package mutating func edit(_ name: String, _ old: String, _ new: String) {
        for index in metadata.indices where metadata[index].contains(name) {
            precondition(metadata[index].contains(old), "the case changes nothing")
            metadata[index] = metadata[index].replacing(old, with: new)
        }
    }

    /// Replaces text in the header and in the first lines of the streams.
    package mutating func editArchive(_ old: String, _ new: String) {
        header = header.replacing(old, with: new)
        metadata[0] = metadata[0].replacing(old, with: new)
        secrets[0] = secrets[0].replacing(old, with: new)
    }

    package static func text(_ lines: [String]) -> [UInt8] {
        Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The archive's ID, in hexadecimal.
    package var archiveID: String {
        let start = header.firstRange(of: "\"archive\":\"")?.upperBound ?? header.startIndex
        return String(header[start...].prefix(64))
    }

    private var created: Int64 {
        let start = header.firstRange(of: "\"created\":\"").map { header[$0.upperBound...].prefix(27) }
        return start.flatMap { Timestamp(String($0)) }?.seconds ?? 0
    }

    /// Sets the stated numbers of items to the actual ones.
    private mutating func recount() {
        let counts = ["genp", "inet", "cert", "keys"].map { itemClass in
            "\"\(itemClass)\":\(metadata.count { $0.hasPrefix("{\"class\":\"\(itemClass)\"") })"
        }
        let text = "{" + counts.joined(separator: ",") + "}"
        func restate(_ line: inout String, _ member: String) {
            guard let start = line.firstRange(of: member)?.upperBound,
                let end = line[start...].firstIndex(of: "}")
            else { return }
            line.replaceSubrange(start...end, with: text)
        }
        restate(&metadata[metadata.count - 1], ",\"items\":")
        restate(&secrets[secrets.count - 1], ",\"items\":")
        restate(&header, ",\"counts\":")
    }

    /// Sets the hashes.
    private mutating func link() {
        func put(_ hash: SHA256Digest, _ member: String, _ line: inout String) {
            guard let start = line.firstRange(of: "\"\(member)\":\"")?.upperBound else { return }
            line.replaceSubrange(start..<line.index(start, offsetBy: 64), with: hash.hex)
        }
        let (lastMetadata, lastSecrets) = (metadata.count - 1, secrets.count - 1)
        guard metadata.last?.hasPrefix("{\"end\"") == true, secrets.last?.hasPrefix("{\"end\"") == true else { return }
        let headerHash = SHA256.hash(Array(header.utf8).span)
        put(headerHash, "header", &metadata[lastMetadata])
        put(headerHash, "header", &secrets[lastSecrets])
        put(SHA256.hash(Self.text(metadata.dropLast()).span), "metadata", &secrets[lastSecrets])
        secrets[lastSecrets] = changeSecretsEnd(secrets[lastSecrets])
        put(SHA256.hash(Self.text(secrets).span), "secrets", &metadata[lastMetadata])
        metadata[lastMetadata] = changeMetadataEnd(metadata[lastMetadata])
    }
}
