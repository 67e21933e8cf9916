import BackupArchive
import KeychainModel
import Testing

@testable import BackupEngine

/// One change to a genuine archive and how it must be refused.
struct HostileCase: Sendable, CustomTestStringConvertible {
    /// The kind of refusal, with a part of the rule where the kind alone says too little.
    enum Refusal: Sendable {
        case damaged(String)
        case limit(String)
        case exactly(ArchiveFailure)
        case refused(@Sendable (RestoreRefusal) -> Bool)

        func fits(_ error: (any Error)?) -> Bool {
            switch (self, error) {
            case (.damaged(let parts), ArchiveFailure.damaged(let rule)?):
                parts.isEmpty || parts.split(separator: "|").contains { rule.contains($0) }
            case (.limit(let part), ArchiveFailure.limit(let rule)?): rule.contains(part)
            case (.exactly(let failure), let found as ArchiveFailure): found == failure
            case (.refused(let isRight), let found as RestoreRefusal): isRight(found)
            default: false
            }
        }
    }

    let testDescription: String
    let mode: ArchiveMode
    let refusal: Refusal
    let change: @Sendable (inout Forgery) throws -> Void

    init(
        _ name: String, _ mode: ArchiveMode, _ refusal: Refusal,
        _ change: @escaping @Sendable (inout Forgery) throws -> Void
    ) {
        testDescription = "\(mode.rawValue): \(name)"
        self.mode = mode
        self.refusal = refusal
        self.change = change
    }

    /// A case of an encrypted archive.
    init(_ name: String, _ refusal: Refusal, _ change: @escaping @Sendable (inout Forgery) throws -> Void) {
        self.init(name, .encrypted, refusal, change)
    }

    /// The same case in both modes.
    static func both(
        _ name: String, _ refusal: Refusal, _ change: @escaping @Sendable (inout Forgery) throws -> Void
    ) -> [HostileCase] {
        ArchiveMode.allCases.map { HostileCase(name, $0, refusal, change) }
    }

    /// Makes the archive and expects that it is refused as it must be, with nothing written.
    func check() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(mode == .encrypted ? genuine.encrypted : genuine.unencrypted)
        try change(&forgery)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(refusal.fits(outcome.error), "it ended with \(String(describing: outcome.error))")
        #expect(outcome.written == 0)
    }
}

/// One list of many.
func join(_ cases: [[HostileCase]]) -> [HostileCase] { cases.flatMap { $0 } }
