internal import ArgumentParser
internal import KCByteStreams
internal import KCFileProtection
internal import KCReportText
internal import KCTerminal

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
        let plan = try UnprotectionPlan(files, keychain.keychain, in: session)
        let opening = try plan.open(keychain, in: session)
        if !dryRun { try plan.run(opening, in: session) }
        let lines = plan.files.map { file, _ in
            "\(dryRun ? "would be " : "")in the clear: \(displayedPath(file.clearPath))"
        }
        if !dryRun { for line in lines { session.note(line) } }
        try session.result(
            [
                "files": .list(
                    plan.files.map { file, place in
                        place.json(path: file.clearPath, dryRun ? .wouldBeUnprotected : .unprotected)
                    })
            ], dryRun ? lines.map { $0 + "\n" } : [])
        return .ok
    }
}
