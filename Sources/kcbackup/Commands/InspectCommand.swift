internal import ArgumentParser

/// `kcbackup inspect`.
struct InspectCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "inspect", abstract: "x")
    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus { .ok }
}
