internal import KCByteStreams
internal import KCKeychainModel

/// The addresses of a record: what of them becomes readable attributes, and what becomes secrets.
extension RecordWriter {
    /// Adds each address with a password or a token that is the secret of no item so far, as it is; called after all other
    /// parts were added.
    package func addAddresses() throws(ForeignFailure) {
        _ = try settleAddresses()
        for (text, isCut) in secretAddresses {
            if isKept(text) {
                collector.leaveOut(Self.cutPart, isCut ? 1 : 0)
            } else {
                try addField("address", SecretBytes(copying: text.utf8))
                collector.remark("addresses with a password that no login has became secrets")
            }
        }
        secretAddresses = []
    }

    /// The address with the password of a login: one of the same host as the first, and with the same user, if both have
    /// one.
    func loginAddress(of name: String?) -> String? {
        if let places, places.isEmpty { return nil }
        let parsed = parsed ?? addresses.map { WebAddress($0) }
        self.parsed = parsed
        guard let host = parsed.lazy.compactMap(\.self).first?.host else { return nil }
        for (text, address) in zip(addresses, parsed) {
            guard let address, address.hasSecret, address.host.exact == host.exact, !isKept(text) else { continue }
            guard let name, !name.isEmpty, let user = address.user else { return text }
            if user.exact == name.exact { return text }
        }
        return nil
    }

    /// True if items have all secrets of an address.
    private func isKept(_ address: String) -> Bool {
        isKept(WebAddress.token(in: address)) && isKept(WebAddress.password(in: address))
    }

    private func isKept(_ secret: borrowing SecretBytes?) -> Bool {
        switch secret {
        case .some(let secret): isKeptOrSpare(secret)
        case .none: true
        }
    }

    private func isKeptOrSpare(_ secret: borrowing SecretBytes) -> Bool {
        if AccessToken.isSpare(secret) { return true }
        return keptSecrets.contains(Self.hash(of: secret))
    }

    /// Remembers the secret of an item.
    func noteKept(_ secret: borrowing SecretBytes?) {
        switch secret {
        case .some(let secret): keptSecrets.insert(Self.hash(of: secret))
        case .none: return
        }
    }

    private static func hash(of secret: borrowing SecretBytes) -> Int {
        secret.withBytes { hash(of: $0) }
    }

    private static func hash(of bytes: borrowing Span<UInt8>) -> Int {
        var hasher = Hasher()
        for index in bytes.indices { hasher.combine(bytes[index]) }
        return hasher.finalize()
    }

    /// Adds, once, the addresses that cannot be attributes: some programs keep the seeds of one-time passwords among
    /// them, and text that is not a well-formed address may hold a password.
    func settleAddresses() throws(ForeignFailure) -> [WebAddress] {
        if let places { return places }
        var accepted: [WebAddress] = []
        var refused: [String] = []
        for (text, address) in zip(addresses, parsed ?? addresses.map { WebAddress($0) }) {
            if let address {
                accepted.append(address)
                if address.hasSecret { secretAddresses.append((text, address.isCut)) }
            } else {
                refused.append(text)
            }
        }
        collector.leaveOut("further address", max(0, accepted.count - Self.addressLimit))
        accepted = Array(accepted.prefix(Self.addressLimit))
        collector.leaveOut(Self.cutPart, accepted.count { $0.isCut && !$0.hasSecret })
        places = accepted
        for address in refused {
            let text = address.drop { $0.isWhitespace }
            if text.isEmpty { continue }
            if OneTimePasswordAddress.isOne(text) {
                try addOneTimePassword(SecretBytes(copying: text.utf8))
            } else {
                try addField("address", SecretBytes(copying: address.utf8))
                collector.remark("addresses that are not well-formed may hold passwords, and became secrets")
            }
        }
        return accepted
    }

    private static let cutPart = "part of an address behind '?', '#' or ';'"
    /// The maximum number of addresses of a record, so that an item does not have more attributes than it may have.
    private static let addressLimit = 200

    func keep(_ places: [WebAddress], in draft: inout ItemDraft) {
        for (index, address) in places.enumerated() {
            draft.extra.append(ExtraAttribute(name: "url.\(index + 1)", value: address.readable))
        }
    }
}
