internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel
internal import KCReportText

/// Explains why another program's file cannot be read.
package func explainForeign(_ failure: ForeignFailure, _ path: String?) -> Explanation {
    let file = path.map { quotedInput($0) } ?? "the file"
    switch failure {
    case .wrongPassword:
        return Explanation(
            .wrongKey, "wrong password for \(file)", hint: "it is the password in the program that made the file")
    case .wrongPasswordOrNoKeyFile(let orDamaged):
        return Explanation(
            .wrongKey,
            orDamaged ? "the password does not open \(file), or the file is damaged" : "wrong password for \(file)",
            hint: "if it also needs a key file: '\(OptionName.keyFile.spelling) FILE'")
    case .wrongPasswordOrKeyFile(let orDamaged):
        return Explanation(
            .wrongKey,
            "the password and the key file do not open \(file)\(orDamaged ? ", or the file is damaged" : "")",
            hint: "either may be wrong, or the file needs no key file: then leave out '\(OptionName.keyFile.spelling)'")
    case .wrongPasswordOrDamaged:
        return Explanation(
            .wrongKey, "the password does not open \(file), or the file is damaged",
            hint: "its format cannot tell which; check that it opens in the program that made it")
    case .noKeyOpens(let keys):
        return Explanation(
            .wrongKey, "none of the \(keys) opens a file in \(file)",
            hint: "its files were encrypted for other ones: use those")
    case .needsKeyFile:
        return Explanation(
            .wrongKey, "\(file) needs a key file, and none was given",
            hint: "give it with '\(OptionName.keyFile.spelling) FILE'")
    case .damagedKeyFile(let rule):
        return Explanation(
            .damaged, "the key file for \(file) is damaged: \(rule)",
            hint: "use another copy of the key file; \(file) itself was not opened")
    case .needsFile(let name):
        return Explanation(
            .notFound, "\(file) cannot be read without '\(name)', which is not beside it",
            hint: "copy both into one folder")
    case .damaged(let rule): return Explanation(.damaged, "\(file) is damaged: \(rule)", hint: copyAgain)
    case .damagedLine(let line, let rule):
        return Explanation(
            .damaged, "line \(line) of \(file): \(rule)", hint: "nothing was read; correct the line, and try again")
    case .unknownVariant(let what):
        return Explanation(.limit, "\(file) is of an unknown kind: \(what)", hint: olderForm)
    case .limit(let what, let found, let allowed):
        return Explanation(.limit, "\(file) exceeds a limit: \(what) \(found), where \(allowed) is allowed")
    case .refused(let title, let hint):
        let hint = path.map { hint.exact.replacing("FILE", with: shellWord($0)) } ?? hint
        return Explanation(.refused, "\(file) is \(title), which kcbackup does not read", hint: hint)
    case .own(let own):
        let hint = own.hint(of: path.map(shellWord) ?? "FILE")
        return Explanation(.refused, "\(file) is \(own.title), not a file of another program", hint: hint)
    case .age(let hasPassphrase):
        let command = "age -d \(hasPassphrase ? "" : "-i IDENTITY ")\(path.map(shellWord) ?? "FILE")"
        return Explanation(
            .refused, "\(file) is a file encrypted with age, which kcbackup does not read",
            hint: "'\(command) | kcbackup import -' imports what is in it")
    case .inUse(let program):
        return Explanation(
            .busy, "\(file) is in use by \(program), which may be changing it",
            hint: "close the program, and try again")
    case .noBrowserKey:
        return Explanation(
            .wrongKey, "the key of \(file), which its browser keeps in the desktop keyring, was not found",
            hint: "run this in the session of its user, with the keyring unlocked",
            "'\(OptionName.keyFile.spelling) login.keyring' takes the key from the file of that keyring")
    case .noAppSecret(let app):
        let secret = "a secret that the desktop keyring keeps for \(app.map { "the app \(quoted($0))" } ?? "its app")"
        return Explanation(
            .wrongKey, "\(file) opens only with \(secret), and none that was found opens it",
            hint: "run this in the session of its user, with the keyring unlocked: the item has the attribute app_id",
            "'\(OptionName.keyFile.spelling) login.keyring' takes the secret from the file of that keyring")
    case .needsProgram(let program, let problem):
        return Explanation(
            .io, "\(file) needs '\(program)' to open it: \(problem)", hint: "check whether '\(program)' alone opens it")
    case .empty:
        return Explanation(
            .damaged, "\(file) is empty", hint: "its program may have failed to write it: export it again")
    case .folderOfFiles(let name, let title):
        let one = path.map { "\($0.exact.hasSuffix("/") ? $0 : $0 + "/")\(name)" } ?? name
        return Explanation(
            .damaged, "\(file) is a folder, and its files are imported one at a time",
            hint: "\(quoted(name)) in it is \(withArticle(title)): 'kcbackup import \(shellWord(one))'")
    case .unknownFormat:
        return Explanation(
            .damaged, "the format of \(file) is not recognized",
            hint: "'kcbackup import --help' lists the formats", "'kcbackup inspect' shows archives")
    case .notUTF8(let line):
        return Explanation(
            .damaged, "line \(line) of \(file) is not UTF-8",
            hint: "save it as UTF-8, or 'iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW', with the encoding that it has")
    case .noSuchColumn(let name, let columns):
        let list = columns.prefix(columnLimit).map { quoted($0) }.joined(separator: ", ")
        return Explanation(
            .usage, "\(file) has no column \(quoted(name))",
            hint: columns.isEmpty
                ? "the first line of the table must hold the names of its columns"
                : "its columns are \(list)" + (columns.count > columnLimit ? " and others" : ""))
    case .columnTwice(let name):
        return Explanation(
            .damaged, "\(file) has two columns \(quoted(name)), which makes it ambiguous",
            hint: "give one of them another name in the first line")
    case .unknownColumns:
        return Explanation(
            .damaged, "the first line of \(file) does not name the columns of a known program",
            hint: "'kcbackup import FILE \(OptionName.columns.spelling) "
                + "title=NAME,url=NAME,username=NAME,password=NAME' says which is which")
    case .notOfFormat(let title, let found):
        let message = "\(file) is not \(withArticle(title))"
        guard let found else { return Explanation(.damaged, message) }
        return Explanation(
            .damaged, message, hint: "it looks like \(withArticle(found)): leave out '\(OptionName.from.spelling)'")
    case .ambiguous(let names):
        return Explanation(
            .usage, "\(file) could be of several formats: \(names.joined(separator: ", "))",
            hint: "say which with '\(OptionName.from.spelling) FORMAT'")
    }
}

/// Columns that a message lists.
private let columnLimit = 20
private let copyAgain = "the copy may be incomplete: export it again, or copy it again from where it was made"
private let olderForm = "have its program export another format, or use a newer kcbackup"

extension OwnFile {
    /// Says what to do with a file.
    ///
    /// - Parameter word: its path as a word for a shell.
    package func hint(of word: String) -> String {
        switch self {
        case .archive: "'kcbackup restore \(word)' restores it, and 'kcbackup inspect \(word)' lists its items"
        case .keychain:
            "'kcbackup item list \(OptionName.keychain.spelling) \(word)' lists its items, 'kcbackup create "
                + "\(OptionName.keychain.spelling) \(word)' backs it up"
        case .deviceKey: "'kcbackup device import \(word)' imports it"
        }
    }
}

extension ForeignContents.Problem {
    /// The problem as text.
    package var words: String {
        switch self {
        case .item(let problem): explainItem(problem).message
        case .sameKey: "another item in the file has the same names, so the two cannot be told apart"
        case .damaged(let rule), .kept(let rule): rule
        }
    }

    /// The stable name used in JSON.
    package var name: String {
        switch self {
        case .item: "no-item"
        case .sameKey: "same-key"
        case .damaged: "damaged"
        case .kept: "kept-as-text"
        }
    }
}
