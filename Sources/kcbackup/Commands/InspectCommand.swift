internal import ArgumentParser

/// `kcbackup inspect`.
struct InspectCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "inspect", abstract: "Not there yet.")

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        throw Failure.unforeseen(type: "\(Self.self)")
    }
}
