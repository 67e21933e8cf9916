internal import Glibc
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// A decrypted file of pass or passage: the password on the first line, and the user's own text below.
struct StoreEntry {
    /// The path within the store, without the file name extension.
    let path: String
    /// When the file was last changed.
    let modified: Timestamp

    /// The maximum size of a decrypted file in bytes.
    static let sizeLimit = ItemLimits.secretSize

    /// The problem of a file that cannot be read although others may be.
    ///
    /// - Throws: `failure` if its cause may concern other files too, such as a failing disk.
    static func problem(of failure: FileFailure) throws(FileFailure) -> ForeignContents.Problem {
        switch failure.problem {
        case .system(EACCES, _), .system(EPERM, _): return .damaged("the system does not let it be read")
        case .tooLarge(let limit): return .item(.secretTooLarge(limit + 1))
        default: throw failure
        }
    }

    /// Adds the items of the file.
    ///
    /// - Throws: as `RecordCollector.add`.
    func add(_ content: borrowing SecretBytes, to collector: RecordCollector) throws(ForeignFailure) {
        let parts = path.exact.split(separator: "/")
        let title = parts.last ?? path
        let record = RecordWriter(collector, identity: path, title: title)
        record.id = path
        record.created = modified
        record.modified = modified
        record.folder = parts.dropLast().joined(separator: "/")
        if content.isEmpty { return collector.leaveOut("record without a secret") }
        guard content.isUTF8 else { return try record.addAttachment(title, content.copy()) }
        if let kind = WholeSecret(content) {
            return try kind == .privateKey
                ? record.addPrivateKey(content.copy()) : record.addAttachment(title, content.copy())
        }
        let text = StoreText(content)
        if let address = text.address { record.addresses = [address] }
        var user = text.user
        guessNames(&user, record, folder: parts.dropLast().last)
        try addParts(text, user, content, record)
        try record.finish()
    }

    private func addParts(
        _ text: StoreText, _ user: String?, _ content: borrowing SecretBytes, _ record: RecordWriter
    ) throws(ForeignFailure) {
        if let password = text.password, !password.isEmpty {
            try record.addLogin(user: user, password: content.withBytes { SecretBytes($0.extracting(password)) })
        } else {
            try record.addUser(user)
        }
        for code in text.codes {
            guard let address = StoreText.secret(of: code, content, issuer: record.title, user: user) else { continue }
            try record.addOneTimePassword(address)
        }
        if text.hasOddCode { record.collector.refuseCode(of: record.title) }
        if let binary = text.binary, let bytes = StoreText.bytes(of: binary, content) {
            try record.addAttachment(binary.name ?? record.title, bytes)
        }
        var note = SecretBytes(capacity: content.count)
        content.withBytes { bytes in
            for line in text.note { note.append(bytes.extracting(line)) }
        }
        if !Self.isBlank(note) { try record.addNote(note) }
    }

    /// True for a note without text; a line before YAML is none.
    private static func isBlank(_ note: borrowing SecretBytes) -> Bool {
        note.withBytes { bytes in
            let text = bytes.indices.filter { ![0x20, 0x09, 0x0a, 0x0d].contains(bytes[$0]) }.map { bytes[$0] }
            return text.isEmpty || text == Array("---".utf8)
        }
    }

    /// Guesses the address and the user: files are often named after the host, or after the user in a folder of the
    /// host.
    private func guessNames(_ user: inout String?, _ record: RecordWriter, folder: String?) {
        guard record.addresses.isEmpty else { return }
        if let address = WebAddress(record.title), address.path == nil {
            record.addresses = [record.title]
        } else if let folder, let address = WebAddress(folder), address.path == nil {
            record.addresses = [folder]
            user = user ?? record.title
        }
    }
}
