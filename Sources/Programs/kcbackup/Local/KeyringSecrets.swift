internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks

/// A password that a run reads once.
final class KeptPassword {
    let password: SecretBytes

    init(_ password: consuming SecretBytes) { self.password = password }
}

/// The secrets of certain items of the desktop keyring, which open files of other programs.
struct KeyringSecrets {
    /// The secrets, with the app that the portal keeps each for.
    private(set) var found: [(app: String?, secret: KeptPassword)] = []
    /// Why there may be others, to follow "the desktop keyring"; nil if all were searched.
    private(set) var gap: String?

    /// Finds the secrets; starts and unlocks nothing.
    ///
    /// - Throws: `SecretServiceFailure.interrupted`.
    init(_ wanted: KeyringItems, in session: Session) throws {
        guard try session.machine.desktopKeyring() == .running else {
            gap = "does not run here"
            return
        }
        var visitor = Visitor(wanted: wanted)
        do {
            let client = try SecretServiceClient(session.machine.sessionBus(), starts: false)
            let source = ServiceSource(try client.read(.all, needsAll: false))
            if let label = source.lockedCollections.first {
                gap = "is locked, with collection \(quoted(label))"
            } else if source.unreadableCount > 0 {
                // GNOME Keyring does not return what its portal has made in the same session.
                gap = "lists \(counted(source.unreadableCount, "item")) that it does not return until the next log-in"
            }
            try source.readable.visitItems(&visitor)
        } catch SecretServiceFailure.interrupted {
            throw SecretServiceFailure.interrupted
        } catch let failure as SecretServiceFailure {
            gap = "does not answer: \(explainSecretService(failure).message)"
        }
        found = visitor.found
    }

    /// The secrets; none if no keyring is running.
    ///
    /// A note says what could not be searched.
    ///
    /// - Throws: `SecretServiceFailure.interrupted`.
    static func find(_ wanted: KeyringItems, in session: Session) throws -> [KeptPassword] {
        guard try session.machine.desktopKeyring() == .running else { return [] }
        let search = try KeyringSecrets(wanted, in: session)
        if let gap = search.gap { session.note("the desktop keyring \(gap): a key in it may not be found") }
        return search.found.map(\.secret)
    }

    /// Keeps the secrets of the items that are wanted.
    private struct Visitor: ItemVisitor {
        let wanted: KeyringItems
        var found: [(app: String?, secret: KeptPassword)] = []

        func wants(_ item: Item) -> Bool { wanted.includes(item) }

        mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
            found.append((KeyringItems.app(of: item), KeptPassword(secret.copy())))
        }

        func skip(damaged item: Item?) {}
    }
}
