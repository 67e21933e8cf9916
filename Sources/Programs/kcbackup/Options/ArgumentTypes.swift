internal import ArgumentParser
internal import KCBackupEngine
internal import KCKeychainModel
internal import KCReportText

/// Parsed by name.
extension ConflictPolicy: ExpressibleByArgument {}

extension ItemClass: ExpressibleByArgument {
    /// Parses Apple's code or a word: `inet`, `internet`.
    package init?(argument: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue == argument || $0.word == argument }) else {
            return nil
        }
        self = found
    }

    /// The words and the codes, for help and completion.
    package static var allValueStrings: [String] { allCases.map(\.word) + allCases.map(\.rawValue) }
}

extension Accessibility: ExpressibleByArgument {
    /// Parses Apple's code, or the suffix of Apple's constant, in upper or lower case: `ak`, `WhenUnlocked`,
    /// `whenunlocked`.
    package init?(argument: String) {
        let found = Self.allCases.first { $0.rawValue == argument || $0.name.lowercased() == argument.lowercased() }
        guard let found else { return nil }
        self = found
    }

    /// The codes and the words, for help and completion.
    package static var allValueStrings: [String] { allCases.flatMap { [$0.rawValue, $0.name] } }
}

/// Parsed by name.
extension AccessConstraint: ExpressibleByArgument {}

extension ItemUUID: ExpressibleByArgument {
    /// Parses the text form, in upper or lower case.
    package init?(argument: String) {
        self.init(argument)
    }
}
