internal import ArgumentParser

/// `kcbackup restore`.
struct RestoreCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "restore", abstract: "x")
    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus { .ok }
}
