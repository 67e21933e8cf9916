internal import ArgumentParser

/// `kcbackup create`.
struct CreateCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Not there yet.")

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        throw Failure.unforeseen(type: "\(Self.self)")
    }
}
