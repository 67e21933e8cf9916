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
        let lines = Self.lines(of: content)
        let isForm = lines.first.map { Self.equals($0, Self.formName, content) } ?? false
        let password = isForm ? Self.password(in: lines, content) : lines.first
        // An empty line ends gopass's header.
        let end = isForm ? lines.firstIndex(where: \.isEmpty) : nil
        var rest = SecretBytes(capacity: content.count)
        var seeds: [Range<Int>] = []
        var user: String?
        for (index, line) in lines.enumerated() {
            if Self.begins(line, "otpauth://", content) {
                seeds.append(line)
            } else if index == 0 || index == end || line.upperBound == password?.upperBound {
                continue
            } else if let value = Self.value(of: ["user", "username", "login"], line, content), user == nil {
                user = value
            } else if let value = Self.value(of: ["url", "website"], line, content), record.addresses.isEmpty {
                record.addresses = [value]
            } else {
                // Line ends are kept in a note.
                let end = index + 1 < lines.count ? lines[index + 1].lowerBound : content.count
                content.withBytes { rest.append($0.extracting(line.lowerBound..<end)) }
            }
        }
        guessNames(&user, record, folder: parts.dropLast().last)
        if let password, !password.isEmpty, !seeds.contains(password) {
            let password = content.withBytes { SecretBytes($0.extracting(password)) }
            try record.addLogin(user: user, password: password)
        } else {
            try record.addUser(user)
        }
        for seed in seeds {
            try content.withBytes { span throws(ForeignFailure) in
                try record.addOneTimePassword(SecretBytes(span.extracting(seed)))
            }
        }
        let isBlank = rest.withBytes { span in span.indices.allSatisfy { [0x20, 0x09, 0x0a, 0x0d].contains(span[$0]) } }
        if !isBlank { try record.addNote(rest) }
        try record.finish()
    }

    /// The first line that gopass 1.10 to 1.12 wrote, before lines like those of a mail's header.
    private static let formName = "GOPASS-SECRET-1.0"

    /// The password in gopass's form, which is a line above the first empty one; nil if there is none.
    private static func password(in lines: [Range<Int>], _ content: borrowing SecretBytes) -> Range<Int>? {
        let name = "password:"
        for line in lines.dropFirst() {
            if line.isEmpty { return nil }
            guard begins(line, name, content) else { continue }
            let start = line.lowerBound + name.utf8.count
            let isBlank = content.withBytes { start < line.upperBound && $0[start] == 0x20 }
            return start + (isBlank ? 1 : 0)..<line.upperBound
        }
        return nil
    }

    private static func equals(_ line: Range<Int>, _ text: String, _ content: borrowing SecretBytes) -> Bool {
        content.withBytes { $0.extracting(line).isEqual(to: text.utf8.span) }
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

    /// The lines, without line ends.
    private static func lines(of content: borrowing SecretBytes) -> [Range<Int>] {
        content.withBytes { bytes in
            var lines: [Range<Int>] = []
            var start = 0
            while start < bytes.count {
                let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
                let last = end > start && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
                lines.append(start..<last)
                start = end + 1
            }
            return lines
        }
    }

    private static func begins(_ line: Range<Int>, _ text: String, _ content: borrowing SecretBytes) -> Bool {
        content.withBytes { bytes in
            let wanted = Array(text.utf8)
            return line.count >= wanted.count
                && wanted.indices.allSatisfy { index in
                    let byte = bytes[line.lowerBound + index]
                    return byte == wanted[index] || byte | 0x20 == wanted[index]
                }
        }
    }

    /// The text after `name:`, which is not a secret.
    private static func value(
        of names: [String], _ line: Range<Int>, _ content: borrowing SecretBytes
    ) -> String? {
        guard let name = names.first(where: { begins(line, $0 + ":", content) }) else { return nil }
        let start = line.lowerBound + name.utf8.count + 1
        let text = content.withBytes { $0.extracting(start..<line.upperBound).utf8Text }
        let trimmed = text?.drop { $0 == " " || $0 == "\t" }
        return trimmed.flatMap { $0.isEmpty ? nil : String($0) }
    }
}
