internal import KCByteStreams
internal import KCItemSources

extension Tagged {
    init(_ failure: ForeignFailure) {
        self =
            switch failure {
            case .wrongPassword: Tagged("wrong-password")
            case .wrongPasswordOrNoKeyFile(let orDamaged): Tagged("wrong-password-or-no-key-file", [orDamaged ? 1 : 0])
            case .wrongPasswordOrKeyFile(let orDamaged): Tagged("wrong-password-or-key-file", [orDamaged ? 1 : 0])
            case .wrongPasswordOrDamaged: Tagged("wrong-password-or-damaged")
            case .noKeyOpens(let keys): Tagged("no-key-opens", [keys])
            case .needsKeyFile: Tagged("needs-key-file")
            case .damagedKeyFile(let rule): Tagged("damaged-key-file", [rule])
            case .needsFile(let name): Tagged("needs-file", [name])
            case .damaged(let rule): Tagged("damaged", [rule])
            case .damagedLine(let line, let rule): Tagged("damaged-line", [rule], [Int64(line)])
            case .unknownVariant(let what): Tagged("unknown-variant", [what])
            case .limit(let what, let found, let allowed):
                Tagged("limit", [what], [Int64(clamping: found), Int64(clamping: allowed)])
            case .refused(let title, let hint): Tagged("refused", [title, hint])
            case .own(let file): Tagged("own", [OwnFile.allCases.firstIndex(of: file) ?? 0])
            case .age(let hasPassphrase): Tagged("age", [hasPassphrase ? 1 : 0])
            case .inUse(let program): Tagged("in-use", [program])
            case .noBrowserKey: Tagged("no-browser-key")
            case .noAppSecret(let app): Tagged("no-app-secret", app.map { [$0] } ?? [])
            case .needsProgram(let program, let problem): Tagged("needs-program", [program, problem])
            case .empty: Tagged("empty")
            case .folderOfFiles(let name, let title): Tagged("folder-of-files", [name, title])
            case .unknownFormat: Tagged("unknown-format")
            case .notUTF8(let line): Tagged("not-utf8", [line])
            case .unknownColumns: Tagged("unknown-columns")
            case .noSuchColumn(let name, let columns): Tagged("no-such-column", [name] + columns)
            case .columnTwice(let name): Tagged("column-twice", [name])
            case .notOfFormat(let title, let found): Tagged("not-of-format", [title] + (found.map { [$0] } ?? []))
            case .ambiguous(let names): Tagged("ambiguous", names)
            }
    }

    /// The failure of this name; nil for another one, or one without its values.
    var foreignFailure: ForeignFailure? { plainFailure ?? failureWithText ?? failureWithNumber }

    private var plainFailure: ForeignFailure? {
        switch name {
        case "wrong-password": .wrongPassword
        case "wrong-password-or-damaged": .wrongPasswordOrDamaged
        case "needs-key-file": .needsKeyFile
        case "no-browser-key": .noBrowserKey
        case "no-app-secret": .noAppSecret(app: text())
        case "empty": .empty
        case "unknown-format": .unknownFormat
        case "unknown-columns": .unknownColumns
        case "ambiguous": .ambiguous(names: texts)
        default: nil
        }
    }

    private var failureWithText: ForeignFailure? {
        guard let text = text() else { return nil }
        return switch name {
        case "no-key-opens": .noKeyOpens(text)
        case "damaged-key-file": .damagedKeyFile(text)
        case "needs-file": .needsFile(text)
        case "damaged": .damaged(text)
        case "damaged-line": count().map { .damagedLine($0, text) }
        case "unknown-variant": .unknownVariant(text)
        case "limit":
            if let found = count(), let allowed = count(1) {
                .limit(text, found: UInt64(found), allowed: UInt64(allowed))
            } else {
                nil
            }
        case "refused": self.text(1).map { .refused(title: text, hint: $0) }
        case "in-use": .inUse(text)
        case "needs-program": self.text(1).map { .needsProgram(text, problem: $0) }
        case "folder-of-files": self.text(1).map { .folderOfFiles(name: text, title: $0) }
        case "no-such-column": .noSuchColumn(text, columns: Array(texts.dropFirst()))
        case "column-twice": .columnTwice(text)
        case "not-of-format": .notOfFormat(title: text, found: self.text(1))
        default: nil
        }
    }

    private var failureWithNumber: ForeignFailure? {
        switch name {
        case "wrong-password-or-no-key-file": flag().map { .wrongPasswordOrNoKeyFile(orDamaged: $0) }
        case "wrong-password-or-key-file": flag().map { .wrongPasswordOrKeyFile(orDamaged: $0) }
        case "own":
            count().flatMap { OwnFile.allCases.indices.contains($0) ? .own(OwnFile.allCases[$0]) : nil }
        case "age": flag().map { .age(hasPassphrase: $0) }
        case "not-utf8": count().map { .notUTF8(line: $0) }
        default: nil
        }
    }
}
