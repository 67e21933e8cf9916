package import KCBackupArchive
package import KCKeychainModel
import Testing

/// A change to a genuine archive, and how the result must be rejected.
package struct HostileCase: Sendable, CustomTestStringConvertible {
    /// The kind of refusal, with part of the rule's text if the kind alone is not specific enough.
    package enum Refusal: Sendable {
        /// The rule contains one of these parts, separated by `|`; an empty string matches any rule.
        case damaged(String)
        case limit(String)
        case exactly(ArchiveFailure)

        /// Returns true if `error` is a refusal of this kind.
        package func fits(_ error: (any Error)?) -> Bool {
            switch (self, error) {
            case (.damaged(let parts), ArchiveFailure.damaged(let rule)?):
                parts.isEmpty || parts.split(separator: "|").contains { rule.contains($0) }
            case (.limit(let part), ArchiveFailure.limit(let rule)?): rule.contains(part)
            case (.exactly(let failure), let found as ArchiveFailure): found == failure
            default: false
            }
        }
    }

    /// The mode and the change.
    package let testDescription: String
    /// The mode of the archive to change.
    package let mode: ArchiveMode
    /// The expected failure.
    package let refusal: Refusal
    /// Changes a genuine archive.
    package let change: @Sendable (inout Forgery) throws -> Void

    /// Creates a case for an archive of `mode`.
    package init(
        _ name: String, _ mode: ArchiveMode, _ refusal: Refusal,
        _ change: @escaping @Sendable (inout Forgery) throws -> Void
    ) {
        testDescription = "\(mode.rawValue): \(name)"
        self.mode = mode
        self.refusal = refusal
        self.change = change
    }

    /// Creates a case for an encrypted archive.
    package init(_ name: String, _ refusal: Refusal, _ change: @escaping @Sendable (inout Forgery) throws -> Void) {
        self.init(name, .encrypted, refusal, change)
    }

    /// The same case in both modes.
    package static func both(
        _ name: String, _ refusal: Refusal, _ change: @escaping @Sendable (inout Forgery) throws -> Void
    ) -> [HostileCase] {
        ArchiveMode.allCases.map { HostileCase(name, $0, refusal, change) }
    }
}

/// Concatenates lists of cases.
package func join(_ cases: [[HostileCase]]) -> [HostileCase] { cases.flatMap { $0 } }
