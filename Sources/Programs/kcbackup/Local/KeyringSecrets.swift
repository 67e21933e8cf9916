internal import KCByteStreams
internal import KCKeychainModel
internal import KCReportText
internal import KCSecretService

/// The secrets of certain items of the desktop keyring, which open files of other programs.
enum KeyringSecrets {
    /// The secrets of the items whose labels end with `ending`; none if no keyring is running.
    ///
    /// Starts and unlocks nothing. A note says what could not be searched.
    ///
    /// - Throws: `SecretServiceFailure.interrupted`.
    static func find(labeled ending: String, in session: Session) throws -> [KeptPassword] {
        guard try session.world.desktopKeyring() == .running else { return [] }
        var visitor = Visitor(ending: ending)
        do {
            let client = try SecretServiceClient(session.world.sessionBus(), starts: false)
            let source = ServiceSource(try client.read(.all, needsAll: false))
            for label in source.lockedCollections {
                session.note("collection \(quoted(label)) of the desktop keyring is locked: no key is looked for in it")
            }
            try source.readable.visitItems(&visitor)
        } catch SecretServiceFailure.interrupted {
            throw SecretServiceFailure.interrupted
        } catch let failure as SecretServiceFailure {
            session.note("no key is looked for in the desktop keyring: \(explainSecretService(failure).message)")
        }
        return visitor.found
    }

    /// Keeps the secrets of the items with the label.
    private struct Visitor: ItemVisitor {
        let ending: String
        var found: [KeptPassword] = []

        func wants(_ item: Item) -> Bool {
            item.attributes.text(.labl)?.exact.hasSuffix(ending) == true && item.secretSize != nil
        }

        mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
            found.append(KeptPassword(secret.copy()))
        }

        func skip(damaged item: Item?) {}
    }
}
