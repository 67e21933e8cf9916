internal import ArgumentParser

/// `kcbackup restore`.
struct RestoreCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "restore", abstract: "Not there yet.")

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        throw Failure.unforeseen(type: "\(Self.self)")
    }
}
