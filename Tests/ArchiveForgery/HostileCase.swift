package import BackupArchive
package import KeychainModel
import Testing

/// One change to a genuine archive and how it must be refused.
package struct HostileCase: Sendable, CustomTestStringConvertible {
    /// The kind of refusal, with a part of the rule where the kind alone says too little.
    package enum Refusal: Sendable {
        /// One of these parts, divided by `|`, is in the rule; any rule will do where there is none.
        case damaged(String)
        case limit(String)
        case exactly(ArchiveFailure)

        /// True when `error` is a refusal of this kind.
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

    /// The mode and what is changed.
    package let testDescription: String
    /// The mode of the archive that is changed.
    package let mode: ArchiveMode
    /// How it must be refused.
    package let refusal: Refusal
    /// Changes a genuine archive.
    package let change: @Sendable (inout Forgery) throws -> Void

    /// A case of an archive of `mode`.
    package init(
        _ name: String, _ mode: ArchiveMode, _ refusal: Refusal,
        _ change: @escaping @Sendable (inout Forgery) throws -> Void
    ) {
        testDescription = "\(mode.rawValue): \(name)"
        self.mode = mode
        self.refusal = refusal
        self.change = change
    }

    /// A case of an encrypted archive.
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

/// One list of many.
package func join(_ cases: [[HostileCase]]) -> [HostileCase] { cases.flatMap { $0 } }
