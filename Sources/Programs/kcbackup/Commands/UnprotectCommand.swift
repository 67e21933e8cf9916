internal import ArgumentParser
internal import KCAgeEncryption
internal import KCByteStreams
internal import KCFileProtection
internal import KCReportText

/// `kcbackup unprotect`.
struct UnprotectCommand: Verb {
    static let mainOptions: [OptionName] = [.dryRun, .passcode, .keychain]

    static let configuration = CommandConfiguration(
        commandName: "unprotect",
        abstract: "Decrypt files that 'kcbackup protect' encrypted.",
        discussion: """
            FILE.age becomes FILE again, as it was before, in the clear.

            EXAMPLES:
              kcbackup unprotect diary.txt.age
            """)

    @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file(extensions: ["age"]))
    var files: [String]

    @Flag(name: OptionName.dryRun.name, help: "Say what would happen, and write nothing.")
    var dryRun = false

    @OptionGroup
    var keychain: LocalKeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let places = try FileKeyPlaces(keychain.keychain, in: session)
        // Nothing is changed before the key of each file was found.
        let opened = try files.map { path in
            let file = try FileToProtect(session.world.resolve(path))
            guard let stanzas = file.stanzas, ProtectionMark.isMarked(stanzas), file.hasEnding else {
                throw ProtectionProblem.notProtected(file.path)
            }
            guard let place = try places.place(of: stanzas) else {
                try places.requireAll()
                throw ProtectionProblem.keyElsewhere(file.path)
            }
            return (file, place)
        }
        // A keychain is asked for once, however many of its files there are.
        var keys: [FileKeyHolder: [any Identity]] = [:]
        for (number, (file, place)) in opened.enumerated() where !dryRun {
            session.subjects.path = file.path
            let identities = try keys[place.holder] ?? place.identities(keychain.passcodeOption, in: session)
            keys[place.holder] = identities
            try file.unprotect(with: identities)
            session.done = "\(counted(number + 1, "file")) decrypted"
        }
        for (file, _) in opened {
            session.note("\(dryRun ? "would be " : "")in the clear: \(displayedPath(file.clearPath))")
        }
        try session.result(
            [
                "files": .list(
                    opened.map { file, place in
                        place.json(path: file.clearPath, dryRun ? .wouldBeUnprotected : .unprotected)
                    })
            ], [])
        return .ok
    }
}
