internal import KCBackupCatalogue
package import KCHomeFiles
internal import KCKeychainModel
package import KCReportText
package import KCStoreTasks

/// The files with secrets that a home, or a system, holds, as text and in JSON.
package struct HomeText {
    private let holdings: HomeHoldings
    private let session: Session

    package init(_ holdings: HomeHoldings, _ session: Session) { (self.holdings, self.session) = (holdings, session) }

    private var contents: HomeContents { holdings.contents }
    private var root: HomeRoot { holdings.root }

    /// Says what a backup takes and leaves; to a user who is not watching, only what it should have and has not.
    package func tellContents() {
        for line in lines { session.note(line) }
        for line in holdings.appKeyrings?.lines ?? [] { session.note(line) }
        if let connections = holdings.connections {
            session.note(
                "\(counted(connections.count, "connection")) of NetworkManager \(connections.count == 1 ? "is" : "are") "
                    + "the system's: 'sudo kcbackup create \(OptionName.keychain.spelling) "
                    + "\(shellWord("file:" + connections.folder)) networks.kcb' backs them up")
        }
        // As many as fit a screen, unless all are asked for; those first that are missing in the archive, but for a single one,
        // which the warning names.
        let limit = session.style.isVerbose ? Int.max : 20
        let missed = contents.missed
        let left = (missed.count > 1 ? missed : []) + contents.left.filter { !$0.isMissed }
        session.note(each: left.prefix(limit).map { quoted($0.path) }) {
            Remark("left out", because: left[$0].reason.words)
        }
        if left.count > limit { session.note("… and \(left.count - limit) more (-v shows all)") }
        let bound = contents.boundCount
        if bound > 0 {
            session.note(
                "\(counted(bound, "credential")) \(bound == 1 ? "is" : "are") encrypted for this machine, and "
                    + "\(bound == 1 ? "opens" : "open") on no other")
        }
        warnOfMissed()
        warnOfUnread()
    }

    /// Warns in one line, however many there are: the reasons are the same every night.
    private func warnOfMissed() {
        let missed = contents.missed
        guard let first = missed.first else { return }
        let accepting = root == .home ? "; \(acceptingMissing(job: session.job, path: first.path))" : ""
        let words = "\(quoted(first.path)): \(first.reason.words)\(accepting)"
        session.warn(
            missed.count == 1
                ? "1 file was left out: \(words)"
                : "\(missed.count) files were left out (-v shows all); first, \(words)")
    }

    package func warnOfUnread() {
        session.warn(each: contents.unread.map { quoted($0.path) }) {
            Remark("left out", because: contents.unread[$0].problem.words)
        }
    }

    /// A table of the sources that have any files.
    package var lines: [String] {
        var table = Table([
            Table.Column(title: "FILES OF"), Table.Column(title: "TAKEN", alignment: .right),
            Table.Column(title: "SIZE", alignment: .right), Table.Column(title: "LEFT OUT", alignment: .right),
            Table.Column(title: "UNREADABLE", alignment: .right),
        ])
        for source in contents.sources {
            table.append([
                source.title, String(source.taken), byteCount(source.size), String(source.left),
                String(source.unread),
            ])
        }
        if table.isEmpty {
            switch root {
            case .home: return ["the home has no files of secrets that kcbackup knows"]
            case .credentials: return ["the system has no credentials of systemd"]
            }
        }
        return table.lines(width: nil).map { String($0.dropLast()) }
    }

    /// The JSON object "home".
    package var json: JSONValue {
        filesJSON.adding([
            ("appKeyrings", holdings.appKeyrings?.json),
            ("systemConnections", (holdings.connections?.count).map { .number($0) }),
        ])
    }

    private var filesJSON: JSONValue {
        [
            "sources": .list(
                contents.sources.map { source in
                    [
                        "title": .text(source.title), "taken": .number(source.taken), "size": .number(Int(source.size)),
                        "left": .number(source.left), "unread": .number(source.unread),
                    ]
                }),
            "leftFiles": .list(
                contents.left.map { entry in
                    [
                        "path": .text(entry.path), "reason": .text(entry.reason.rawValue),
                        "missed": .flag(entry.isMissed),
                    ]
                }),
            "unreadFiles": .list(
                contents.unread.map { path, problem in ["path": .text(path), "problem": .text(problem.words)] }),
        ]
    }
}

extension HomeReason {
    /// The reason, to follow "left: ".
    package var words: String {
        switch self {
        case .link: "a symbolic link, which is not followed"
        case .special: "a socket, a pipe or a device"
        case .otherOwner: "it belongs to another user"
        case .tooLarge: "it is larger than files of its kind are"
        case .passing: "a lock, a temporary file or an editor's copy"
        case .made: "its program makes it anew"
        case .shortLived: "what is in it is valid for hours only"
        case .history: "the history of a store; a remote of the store keeps it"
        case .code: "programs run it when they find it"
        case .keyring: "a keyring of the desktop, which '\(OptionName.keychain.spelling) secret-service:' backs up"
        }
    }
}

extension HomeFile.Failure {
    /// The problem, to follow "left out: ".
    package var words: String {
        switch self {
        case .file(let failure): explainFile(failure).message
        case .stream(let failure): explainStream(failure, nil).message
        case .changed: "it was changed while it was read, three times"
        case .unfinished:
            "its program is changing it, or broke off, and a journal is beside it; end the program, such as with "
                + "'gpgconf --kill all'"
        case .tooLarge: HomeReason.tooLarge.words
        case .otherOwner: HomeReason.otherOwner.words
        case .name: "its name is not UTF-8, or too long, or it is nested too deeply"
        case .item(let problem): problem.rule
        }
    }
}
