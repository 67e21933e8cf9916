internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// `.netrc`: the passwords for curl, ftp, git and others, as words in the clear.
///
/// Source: the manual of GNU inetutils, "The .netrc file", the manual of curl, which added quotation marks, and that of
/// Emacs' auth-source, which added `port`.
package struct NetrcFormat: SeparableFormat {
    package let kind = ForeignKind.netrc

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { bytes in
            var words = NetrcWords(bytes.count)
            let isDefault: Bool
            do throws(ForeignFailure) {
                guard let first = try words.next(in: bytes) else { return false }
                guard ["machine", "default", "macdef"].contains(where: { first.equals($0, in: bytes) }) else {
                    return false
                }
                isDefault = first.equals("default", in: bytes)
            } catch {
                return false
            }
            do throws(ForeignFailure) {
                guard let second = try words.next(in: bytes) else { return false }
                // Other files begin with this word, too: /etc/networks does.
                return !isDefault
                    || ["login", "password", "account", "port", "macdef", "machine"].contains(where: {
                        second.equals($0, in: bytes)
                    })
            } catch {
                // Reading it says what is wrong.
                return true
            }
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        try file.bytes.withBytes { bytes throws(ForeignFailure) in
            let macros = try forEachRecord(in: bytes) { record throws(ForeignFailure) in
                collector.leaveOut("macro", record.macros)
                try collector.record("line \(record.line)") { () throws(ForeignFailure) in
                    try record.result.get().add(to: collector, bytes)
                }
            }
            collector.leaveOut("macro", macros)
        }
        return try collector.finish(details: "", isPlaintext: true)
    }

    package func separableRecords(of file: ForeignFile) -> SeparableRecords {
        file.bytes.withBytes { bytes in
            var whole: [Range<Int>] = []
            var staying = 0
            _ = forEachRecord(in: bytes) { record in
                switch record.result {
                case .success(let entry) where !entry.hasSecret: break
                case .success(let entry) where record.isBare && entry.isWhole: whole.append(record.range)
                case .success, .failure: staying += 1
                }
            }
            return SeparableRecords(whole, staying: staying)
        }
    }

    /// An entry, or why it cannot be read, with the line where it begins or is damaged.
    private struct Record {
        let line: Int
        let result: Result<Entry, ForeignFailure>
        /// From its first word to its last one.
        var range = 0..<0
        /// True if there are neither comments nor macros in it.
        var isBare = false
        /// The number of macros in it, and between it and the entry before it.
        var macros = 0
    }

    /// Passes all entries to `body`, one after the other: a large file has millions, each of which takes more memory than
    /// the file has for it.
    ///
    /// If it is not clear where a damaged entry ends, reading goes on in the next line that begins with a keyword for
    /// entries or macros: pieces of a password must not be taken for names.
    ///
    /// - Returns: the number of macros after the last entry.
    /// - Throws: what `body` throws.
    private func forEachRecord<E: Error>(
        in bytes: borrowing Span<UInt8>, _ body: (Record) throws(E) -> Void
    ) throws(E) -> Int {
        var words = NetrcWords(bytes.count)
        var macros = 0
        while words.skipBlanks(in: bytes) {
            let start = words
            var found: Record
            do throws(ForeignFailure) {
                guard let word = try words.next(in: bytes) else { break }
                if word.equals("macdef", in: bytes) {
                    try words.skipMacro(in: bytes)
                    macros += 1
                    continue
                }
                var (record, inside) = try record(word, &words, bytes)
                record.range = word.range.lowerBound..<words.position
                record.isBare = inside == 0 && words.comments == start.comments
                found = record
                macros += inside
            } catch {
                var line = start.line
                if case .damagedLine(let found, _) = error { line = found }
                found = Record(line: line, result: .failure(error))
                words = start
                words.skipToEntry(in: bytes)
            }
            (found.macros, macros) = (macros, 0)
            try body(found)
        }
        return macros
    }

    /// Reads an entry from behind its first word, and the macros in it.
    ///
    /// - Throws: `ForeignFailure.damagedLine` if it is not clear where the entry ends.
    private func record(
        _ first: NetrcWord, _ words: inout NetrcWords, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (record: Record, macros: Int) {
        var entry = Entry.other
        var damage: ForeignFailure?
        if first.equals("machine", in: bytes) {
            let host = try words.value("machine", in: bytes)
            do throws(ForeignFailure) {
                entry = try Entry(machine: words.text(of: host, "machine", in: bytes), first.line)
            } catch {
                damage = error
            }
        } else if !first.equals("default", in: bytes) {
            throw .damagedLine(first.line, "a word is outside of an entry")
        }
        var macros = 0
        while true {
            let before = words
            guard let word = try words.next(in: bytes) else {
                words = before
                break
            }
            if word.equals("machine", in: bytes) || word.equals("default", in: bytes) {
                words = before
                break
            }
            if word.equals("macdef", in: bytes) {
                try words.skipMacro(in: bytes)
                macros += 1
                continue
            }
            let problem = try entry.take(word, &words, bytes)
            damage = damage ?? problem
        }
        if let damage {
            var line = first.line
            if case .damagedLine(let found, _) = damage { line = found }
            return (Record(line: line, result: .failure(damage)), macros)
        }
        entry.findToken(in: bytes)
        return (Record(line: first.line, result: .success(entry)), macros)
    }

    /// The words from one `machine` to the next.
    private struct Entry {
        /// The host, or a longer address without the secrets in it; nil for `default`.
        let host: String?
        /// The parts of an address in the place of a host.
        private let address: WebAddress?
        /// The address as it is written, if there is a password or a token in it.
        private var secretAddress: String?
        var login: String?
        /// The word in the place of the user name, if it is an access token.
        var token: NetrcWord?
        var password: NetrcWord?
        /// A second password, which some FTP servers ask for.
        var account: NetrcWord?
        /// The word after `port`: a number, or the name of a protocol.
        private var portWord: NetrcWord?
        private var port: String?

        /// True if it becomes an item.
        var hasSecret: Bool { token != nil || password != nil || account != nil || secretAddress != nil }

        /// True if its items have all that it has.
        var isWhole: Bool { address.map { !$0.hasSecret && !$0.isCut } ?? true }

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
            } else if let address = WebAddress(text.exact.contains("://") ? text : "//" + text) {
                self.init(host: address.readable, address: address)
                if address.hasSecret { secretAddress = text }
            } else {
                throw .damagedLine(line, "the word after 'machine' is not a host")
            }
        }

        /// Takes a keyword and its value.
        ///
        /// - Returns: what is wrong with the value; nil if nothing is.
        /// - Throws: `ForeignFailure.damagedLine` for another word, or for one without a value.
        mutating func take(
            _ word: NetrcWord, _ words: inout NetrcWords, _ bytes: borrowing Span<UInt8>
        ) throws(ForeignFailure) -> ForeignFailure? {
            let keywords: [(StaticString, WritableKeyPath<Entry, NetrcWord?>)] = [
                ("login", \.token), ("account", \.account), ("password", \.password),
                ("port", \.portWord),
            ]
            guard let (keyword, place) = keywords.first(where: { word.equals($0.0, in: bytes) }) else {
                throw .damagedLine(word.line, "a word is not one of machine, login, password, account, port, macdef")
            }
            let value = try words.value(keyword, in: bytes)
            // curl and git use the last one, ftp the first.
            if self[keyPath: place] != nil { return .damagedLine(word.line, "its entry has a second '\(keyword)'") }
            self[keyPath: place] = value
            guard place == \.token || place == \.portWord else { return nil }
            do throws(ForeignFailure) {
                let text = try words.text(of: value, keyword, in: bytes)
                if place == \.token { login = text } else { port = text }
                return nil
            } catch {
                return error
            }
        }

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

        func add(to collector: RecordCollector, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
            let record =
                "\(host == nil ? "default" : "machine")\n\(host ?? title)\n\(login == nil ? "" : "login")\n\(login ?? "")"
                + (port.map { "\nport\n\($0)" } ?? "")
            // Entries have no other ID.
            let ordinal = RecordPart.Ordinal(record: collector.ordinal(of: record))
            for (kind, word) in [("access token", token), ("password", password), ("account password", account)] {
                guard let word else { continue }
                try collector.add(
                    RecordPart(
                        kind, draft(kind), secret: word.secret(in: bytes), record: record, ordinal: ordinal, part: kind,
                        name: title))
            }
            let isAddressWhole = try addAddress(to: collector, record, ordinal)
            if let address, !isAddressWhole {
                collector.leaveOut("part of an address behind '?', '#' or ';'", address.isCut ? 1 : 0)
            }
            if !hasSecret { collector.leaveOut("entry without a password") }
        }

        private var title: String { address?.host ?? host ?? "default" }

        /// Adds the secret in an address: as that of the login, if this has none and no other user; else with the whole
        /// address.
        ///
        /// - Returns: true if the whole address was added.
        private func addAddress(
            to collector: RecordCollector, _ record: String, _ ordinal: RecordPart.Ordinal
        ) throws(ForeignFailure) -> Bool {
            guard let secretAddress else { return false }
            func add(_ kind: String, _ secret: consuming SecretBytes?) throws(ForeignFailure) {
                try collector.add(
                    RecordPart(
                        kind, draft(kind), secret: secret, record: record, ordinal: ordinal, part: kind, name: title))
            }
            let isOther = login != nil && address?.user != nil && login?.exact != address?.user?.exact
            guard token == nil, password == nil, !isOther else {
                try add("field", SecretBytes(copying: secretAddress.utf8))
                return true
            }
            let addressToken = WebAddress.token(in: secretAddress)
            switch consume addressToken {
            case .some(let token):
                try add("access token", token)
                if AccessToken.isSpare(WebAddress.password(in: secretAddress)) { return false }
            case .none: break
            }
            try add("password", WebAddress.password(in: secretAddress))
            return false
        }

        private func draft(_ kind: String) -> ItemDraft {
            let isLogin = kind == "access token" || kind == "password"
            var draft = ItemDraft(itemClass: host == nil || !isLogin ? .genericPassword : .internetPassword)
            if draft.itemClass == .internetPassword {
                draft.attributes[.srvr] = .text(title)
            } else {
                draft.attributes[.svce] = .text(title)
                if !isLogin { draft.attributes[.desc] = .text(kind) }
            }
            draft.attributes[.labl] = .text(title)
            if kind == "field" {
                draft.attributes[.acct] = .text(login.map { "address (\($0))" } ?? "address")
            } else if let login {
                draft.attributes[.acct] = .text(login)
            }
            if let address, isLogin { address.describe(&draft) }
            draft.extra = [ExtraAttribute(name: "source.format", value: "netrc")]
            if let port { add(port, to: &draft) }
            return draft
        }

        /// Adds what follows `port`; the name of a protocol, and the port of anything but an internet password, as a free
        /// attribute.
        private func add(_ port: String, to draft: inout ItemDraft) {
            if draft.itemClass == .internetPassword, draft.attributes[.port] == nil, let number = UInt16(port) {
                draft.attributes[.port] = .number(Int64(number))
            } else {
                draft.extra.append(ExtraAttribute(name: "netrc.port", value: port))
            }
        }
    }
}
