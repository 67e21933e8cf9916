internal import ArgumentParser

/// `kcbackup create`.
struct CreateCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "x")
    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus { .ok }
}
