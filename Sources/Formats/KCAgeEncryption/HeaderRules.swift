internal import KCByteStreams

// The rules of a header that a reader demands and a writer keeps, also for the stanzas of plugins.

extension AgeHeader {
    /// Checks that a header can have so many stanzas.
    package static func requireRoom(forStanzas count: Int) throws(AgeFailure) {
        guard count <= stanzaLimit else { throw .headerTooLarge("recipients", allowed: stanzaLimit) }
    }

    /// Checks by its form what each recipient is: a public key that age itself encrypts to, or a key of a plugin, whose
    /// stanzas may have any type that is not age's; and that either all or none of age's are post-quantum.
    package func requirePublicKeys() throws(AgeFailure) {
        for stanza in stanzas {
            if stanza.type == ScryptRecipient.type { throw .malformedHeader("a recipient is a passphrase") }
            _ = try stanza.requireForm()
        }
        guard Self.areOfOneStrength(stanzas) else {
            throw .malformedHeader("post-quantum recipients are mixed with others")
        }
    }

    /// True if either all or none of the stanzas of age's public keys are post-quantum, whatever labels came with them.
    static func areOfOneStrength(_ stanzas: [Stanza]) -> Bool {
        let types = stanzas.map(\.type)
        let isMixed =
            types.contains { [HybridRecipient.type, HybridTagRecipient.type].contains($0) }
            && types.contains { ([X25519Recipient.type, P256TagRecipient.type] + SSHRecipient.types).contains($0) }
        return !isMixed
    }
}

extension Stanza {
    /// Checks that a stanza has the form of its type, whoever opens it.
    ///
    /// - Returns: false for a type that is not one of the public keys of age, about which nothing is known.
    /// - Throws: `AgeFailure`: `malformedHeader` with the rule that it breaks.
    func requireForm() throws(AgeFailure) -> Bool {
        switch type {
        case X25519Recipient.type: _ = try X25519Recipient.share(of: self)
        case HybridRecipient.type: _ = try HybridRecipient.encapsulatedKey(of: self)
        case P256TagRecipient.type: _ = try P256TagRecipient.parts(of: self)
        case HybridTagRecipient.type: try HybridTagRecipient.check(self)
        case SSHRecipient.ed25519Type: try SSHRecipient.parts(ofEd25519: self)
        case SSHRecipient.rsaType: try SSHRecipient.check(rsa: self)
        default: return false
        }
        return true
    }

    /// True unless a stanza lacks the form of its type.
    package var isWellFormed: Bool {
        do throws(AgeFailure) {
            _ = try requireForm()
            return true
        } catch {
            return false
        }
    }
}

extension WrappedFileKey {
    /// Checks that whoever has another key passes over what a plugin returned, and takes the file for no damaged one.
    ///
    /// - Throws: `AgeFailure`: `malformedHeader`, `headerTooLarge`, `cryptography`.
    func requireHarmless() throws(AgeFailure) {
        try AgeHeader.requireRoom(forStanzas: stanzas.count)
        var isKnown = false
        for stanza in stanzas where try stanza.requireForm() { isKnown = true }
        guard isKnown else { return }
        // An exchange with any key shows the other faults, such as a share of low order.
        for kind in NativeIdentity.Kind.allCases { _ = try NativeIdentity.generate(kind).unwrap(stanzas) }
    }
}
