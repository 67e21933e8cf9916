internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// `.netrc`: the passwords for curl, ftp, git and others, as words in the clear.
///
/// Source: the manual of GNU inetutils, "The .netrc file", and the manual of curl, which added quotation marks.
package struct NetrcFormat: ForeignFormat {
    package let name = "netrc"
    package let title = ".netrc file"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { bytes in
            var words = Words(bytes.count)
            do throws(ForeignFailure) {
                guard let first = try words.next(in: bytes) else { return false }
                guard ["machine", "default", "macdef"].contains(where: { first.equals($0, in: bytes) }) else {
                    return false
                }
            } catch {
                return false
            }
            do throws(ForeignFailure) {
                return try words.next(in: bytes) != nil
            } catch {
                // Reading it says what is wrong.
                return true
            }
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        var collector = RecordCollector(format: name, date: file.modified)
        try file.bytes.withBytes { bytes in
            let (entries, macros) = try entries(in: bytes)
            collector.leaveOut("macro", macros)
            var ordinals: [Entry.Key: Int] = [:]
            for entry in entries {
                try entry.add(to: &collector, ordinals[entry.key, default: 0], bytes)
                ordinals[entry.key, default: 0] += 1
            }
        }
        return try collector.finish(details: "", isPlaintext: true)
    }

    private func entries(
        in bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (entries: [Entry], macros: Int) {
        var words = Words(bytes.count)
        var entries: [Entry] = []
        var macros = 0
        while let word = try words.next(in: bytes) {
            if word.equals("machine", in: bytes) {
                entries.append(try Entry(machine: words.text("machine", in: bytes), word.line))
                continue
            }
            if word.equals("default", in: bytes) {
                entries.append(Entry.other)
                continue
            }
            if word.equals("macdef", in: bytes) {
                _ = try words.text("macdef", in: bytes)
                words.skipMacro(in: bytes)
                macros += 1
                continue
            }
            let last = entries.count - 1
            guard last >= 0 else { throw .damagedLine(word.line, "a word precedes the first 'machine'") }
            if word.equals("login", in: bytes) {
                let login = try words.value("login", in: bytes)
                try requireFirst(entries[last].token, "login", word)
                entries[last].token = login
                entries[last].login = try words.text(of: login, "login", in: bytes)
            } else if word.equals("account", in: bytes) {
                try requireFirst(entries[last].account, "account", word)
                entries[last].account = try words.value("account", in: bytes)
            } else if word.equals("password", in: bytes) {
                try requireFirst(entries[last].password, "password", word)
                entries[last].password = try words.value("password", in: bytes)
            } else {
                throw .damagedLine(word.line, "a word is not one of machine, login, password, account, macdef")
            }
        }
        for index in entries.indices { entries[index].findToken(in: bytes) }
        return (entries, macros)
    }

    /// Refuses a word that an entry has already: curl and git use the last one, ftp the first.
    private func requireFirst(
        _ earlier: Word?, _ keyword: StaticString, _ word: Word
    ) throws(ForeignFailure) {
        if earlier != nil { throw .damagedLine(word.line, "its entry has a second '\(keyword)'") }
    }

    /// The words from one `machine` to the next.
    private struct Entry {
        struct Key: Hashable {
            let host: String?
            let login: String?
        }

        /// The host, or a longer address without the secrets in it; nil for `default`.
        let host: String?
        /// The parts of an address in the place of a host.
        private let address: WebAddress?
        var login: String?
        /// The word in the place of the user name, if it is an access token.
        var token: Word?
        var password: Word?
        /// A second password, which some FTP servers ask for.
        var account: Word?

        static var other: Entry { Entry(host: nil, address: nil) }

        private init(host: String?, address: WebAddress?) {
            self.host = host
            self.address = address
        }

        /// - Throws: `ForeignFailure.damagedLine` for what is neither a host nor an address, since it may hold a password.
        init(machine text: String, _ line: Int) throws(ForeignFailure) {
            let isIPv6 =
                text.utf8.count { $0 == UInt8(ascii: ":") } > 1
                && text.utf8.allSatisfy { "0123456789abcdefABCDEF:.".utf8.contains($0) }
            if isIPv6 || !text.utf8.contains(where: ":/@?#;%\\".utf8.contains) {
                self.init(host: text, address: nil)
            } else if let address = WebAddress(text.contains("://") ? text : "//" + text) {
                self.init(host: address.readable, address: address)
            } else {
                throw .damagedLine(line, "the word after 'machine' is not a host")
            }
        }

        var key: Key { Key(host: host, login: login) }

        /// Determines whether the login is a user name or an access token.
        mutating func findToken(in bytes: borrowing Span<UInt8>) {
            let password = password.map { $0.secret(in: bytes) }
            let isToken = login.map { AccessToken.isToken($0.utf8.span, password: password) } ?? false
            if isToken {
                login = nil
                if AccessToken.isSpare(password) { self.password = nil }
            } else {
                token = nil
            }
        }

        /// - Parameter ordinal: the number of earlier entries with this host and login; entries have no other ID.
        func add(
            to collector: inout RecordCollector, _ ordinal: Int, _ bytes: borrowing Span<UInt8>
        ) throws(ForeignFailure) {
            let title = address?.host ?? host ?? "default"
            let record =
                "\(host == nil ? "default" : "machine")\n\(host ?? title)\n\(login == nil ? "" : "login")\n\(login ?? "")"
            for (kind, word) in [("access token", token), ("password", password), ("account password", account)] {
                guard let word else { continue }
                let isSecond = kind == "account password"
                var draft = ItemDraft(itemClass: host == nil || isSecond ? .genericPassword : .internetPassword)
                if draft.itemClass == .internetPassword {
                    draft.attributes[.srvr] = .text(title)
                } else {
                    draft.attributes[.svce] = .text(title)
                    if isSecond { draft.attributes[.desc] = .text(kind) }
                }
                draft.attributes[.labl] = .text(title)
                if let login { draft.attributes[.acct] = .text(login) }
                if let address, !isSecond { address.describe(&draft) }
                draft.extra = [ExtraAttribute(name: "source.format", value: "netrc")]
                try collector.add(
                    RecordPart(
                        kind, draft, secret: word.secret(in: bytes), record: record,
                        ordinal: RecordPart.Ordinal(record: ordinal), part: kind, name: title))
            }
            if let address {
                collector.leaveOut("password in an address", address.hasSecret ? 1 : 0)
                collector.leaveOut("part of an address behind '?', '#' or ';'", address.isCut ? 1 : 0)
            }
            if password == nil, account == nil, token == nil { collector.leaveOut("entry without a password") }
        }
    }
}

/// A word and its position.
private struct Word {
    let range: Range<Int>
    /// True if it was in quotation marks, where `\` escapes the next character.
    let isQuoted: Bool
    /// From 1.
    let line: Int

    func equals(_ text: StaticString, in bytes: borrowing Span<UInt8>) -> Bool {
        !isQuoted && range.count == text.utf8CodeUnitCount
            && zip(range, "\(text)".utf8).allSatisfy { bytes[$0] == $1 }
    }

    func secret(in bytes: borrowing Span<UInt8>) -> SecretBytes {
        var secret = SecretBytes(capacity: range.count)
        var isEscaped = false
        for index in range {
            if isQuoted, !isEscaped, bytes[index] == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            secret.append(isEscaped ? Self.unescaped(bytes[index]) : bytes[index])
            isEscaped = false
        }
        return secret
    }

    private static func unescaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        default: byte
        }
    }
}

/// Iterates over the words of a file.
private struct Words {
    private var position = 0
    private var line = 1
    private let count: Int

    init(_ count: Int) {
        self.count = count
    }

    /// The next word; nil at the end.
    ///
    /// A `#` at the beginning of a word starts a comment, which ends with the line.
    mutating func next(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Word? {
        while position < count {
            switch bytes[position] {
            case UInt8(ascii: "\n"):
                line += 1
                position += 1
            case 0x20, 0x09, 0x0d: position += 1
            case UInt8(ascii: "#"): while position < count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
            case UInt8(ascii: "\""): return try quoted(in: bytes)
            default:
                let start = position
                while position < count, ![0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
                return Word(range: start..<position, isQuoted: false, line: line)
            }
        }
        return nil
    }

    /// The word after `keyword`; it may begin with a `#`, which does not start a comment here.
    mutating func value(_ keyword: StaticString, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Word {
        let before = line
        while position < count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) {
            if bytes[position] == 0x0a { line += 1 }
            position += 1
        }
        guard position < count else { throw .damagedLine(before, "nothing follows '\(keyword)'") }
        if bytes[position] == UInt8(ascii: "\"") {
            return try quoted(in: bytes)
        }
        let start = position
        while position < count, ![0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
        return Word(range: start..<position, isQuoted: false, line: line)
    }

    /// The word after `keyword` as text.
    mutating func text(_ keyword: StaticString, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String {
        try text(of: try value(keyword, in: bytes), keyword, in: bytes)
    }

    /// A word as text.
    func text(of word: Word, _ keyword: StaticString, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String
    {
        guard let text = word.secret(in: bytes).utf8Text else {
            throw .damagedLine(word.line, "the word after '\(keyword)' is not UTF-8")
        }
        return text
    }

    /// Skips to the end of the empty line that ends a macro.
    mutating func skipMacro(in bytes: borrowing Span<UInt8>) {
        var isEmpty = false
        while position < count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                if isEmpty { return }
                isEmpty = true
            } else if byte != UInt8(ascii: "\r") {
                isEmpty = false
            }
        }
    }

    /// A word in quotation marks.
    private mutating func quoted(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Word {
        let start = position + 1
        let first = line
        var index = start
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                position = index + 1
                return Word(range: start..<index, isQuoted: true, line: first)
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\n"):
                line += 1
                index += 1
            default: index += 1
            }
        }
        throw .damagedLine(first, "a quotation mark is not closed")
    }
}
