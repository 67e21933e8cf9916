internal import ArgumentParser

/// `kcbackup verify`.
struct VerifyCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "verify", abstract: "x")
    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus { .ok }
}
