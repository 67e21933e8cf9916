internal import ArgumentParser

/// `kcbackup verify`.
struct VerifyCommand: Verb {
    static let configuration = CommandConfiguration(commandName: "verify", abstract: "Not there yet.")

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        throw Failure.unforeseen(type: "\(Self.self)")
    }
}
