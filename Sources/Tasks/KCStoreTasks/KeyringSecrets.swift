package import KCByteStreams
package import KCItemSources
internal import KCKeychainModel
package import KCSecretService

/// A password that a run reads once.
package final class KeptPassword {
    package let password: SecretBytes

    init(_ password: consuming SecretBytes) { self.password = password }
}

/// The secrets of certain items of the desktop keyring, which open files of other programs.
package struct KeyringSecrets {
    /// The secrets, with the app that the portal keeps each for.
    package private(set) var found: [(app: String?, secret: KeptPassword)] = []
    /// Why there may be others; nil if all were searched.
    package private(set) var gap: Gap?

    /// Why the desktop keyring was not searched, or not all of it.
    package enum Gap: Hashable, Sendable {
        case notRunning
        case locked(collection: String)
        /// The keyring lists so many items that it does not return.
        case unreturned(Int)
        case failed(SecretServiceFailure)
    }

    /// Finds the secrets; starts and unlocks nothing.
    ///
    /// - Throws: `SecretServiceFailure.interrupted`.
    package init(_ wanted: KeyringItems, in machine: Machine) throws {
        guard try machine.desktopKeyring() == .running else {
            gap = .notRunning
            return
        }
        var visitor = Visitor(wanted: wanted)
        do {
            let client = try SecretServiceClient(machine.sessionBus(), starts: false)
            let source = ServiceSource(try client.read(.all, needsAll: false))
            if let label = source.lockedCollections.first {
                gap = .locked(collection: label)
            } else if source.unreadableCount > 0 {
                // GNOME Keyring does not return what its portal has made in the same session.
                gap = .unreturned(source.unreadableCount)
            }
            try source.readable.visitItems(&visitor)
        } catch SecretServiceFailure.interrupted {
            throw SecretServiceFailure.interrupted
        } catch let failure as SecretServiceFailure {
            gap = .failed(failure)
        }
        found = visitor.found
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
