package import ArgumentParser

/// A command that does some work.
package protocol Verb: ParsableCommand {
    /// The output options.
    var style: StyleOptions { get }

    /// The command's use of the desktop keyring.
    static var keyringUse: KeyringUse { get }

    /// The program that runs the command, if it is not `kcbackup`.
    static var companion: Companion? { get }

    /// The options that most people need, at most three, which help lists first.
    static var mainOptions: [OptionName] { get }

    /// The other options that help lists without '--help-hidden', at most twelve with the main ones; nil for all.
    static var otherOptions: [OptionName]? { get }

    /// The title under which help lists an option that is not a main one.
    static func title(of option: OptionName) -> OptionTitle

    /// Runs the command.
    ///
    /// - Returns: `ok`, or `incomplete` if some items could not be read or written and were reported.
    /// - Throws: any error from the layers below; `Failure` converts them.
    func run(in session: Session) throws -> ExitStatus
}

extension Verb {
    package static var keyringUse: KeyringUse { .none }
    package static var companion: Companion? { nil }
    package static var mainOptions: [OptionName] { [] }
    package static var otherOptions: [OptionName]? { nil }
    package static func title(of option: OptionName) -> OptionTitle { option.title }
}
