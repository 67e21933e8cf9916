internal import KCByteStreams
internal import KCFileProtection
internal import KCReportText
internal import KCTerminal

extension UnprotectCommand {
    func perform(in session: Session) throws -> ExitStatus {
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
