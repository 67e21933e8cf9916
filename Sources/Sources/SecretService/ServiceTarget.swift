package import ByteStreams
package import KeychainKeys
package import KeychainModel

/// A Secret Service as the target of a restore.
///
/// The service has no transactions: a restore that fails leaves what it has written, and running it again completes it.
/// A replacing restore deletes items last, so that it never loses an item before everything in the archive is written.
package struct ServiceTarget: StoredItemTarget {
    private let client: SecretServiceClient
    private let scope: ServiceScope
    private let making: Making

    /// How missing collections are created.
    package enum Making {
        /// They are not created, because nobody is there to be asked.
        case refused
        /// The desktop asks for their passwords.
        case byPrompt
        /// With this password, which is read when it is needed.
        case withPassword((_ label: String) throws -> SecretBytes)
    }

    /// Prepares a restore into all collections, or of all items into one.
    package init(_ client: SecretServiceClient, scope: ServiceScope, making: Making) {
        self.client = client
        self.scope = scope
        self.making = making
    }

    /// Always plain: the service encrypts secrets itself.
    package func form(ofSecretsUnder keybag: ArchivedKeybag) -> SecretForm { .plain }

    /// Reads the service, and calls `body` with what was read; see `ItemTarget`.
    ///
    /// - Throws: `SecretServiceFailure`, and what `body` throws.
    package func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result {
        do {
            return try body(state())
        } catch SecretServiceFailure.locked(let labels) {
            throw SecretServiceFailure.lockedTarget(labels)
        }
    }

    /// Calls `body` to write items; see `ItemTarget`.
    ///
    /// - Throws: `SecretServiceFailure` (`brokenOff` if something may have changed), and what `body` throws.
    package func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        let state = try state()
        do {
            let result = try body(state)
            try state.finish()
            return result
        } catch {
            var cause = error as? SecretServiceFailure
            if case .locked(let labels) = cause { cause = .lockedTarget(labels) }
            guard state.hasSent else { throw cause ?? error }
            if Interruption.isRequested {
                throw SecretServiceFailure.brokenOff(written: state.written, because: .interrupted)
            }
            guard let cause else { throw error }
            throw SecretServiceFailure.brokenOff(written: state.written, because: cause)
        }
    }

    private func state() throws -> ServiceState {
        try ServiceState(client, client.read(.all, needsAll: false), scope: scope, making: making)
    }
}
