internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecurityStatus

/// The certificates and private keys that an export writes.
struct ExportContents {
    var identities: [PKCS12.Identity] = []
    /// Certificates that are not in `identities`.
    var certificates: [X509Certificate] = []
    /// The private keys of `identities`, without duplicates.
    var identityKeys: [PrivateKey] = []
    /// Private keys that are not in `identities`.
    var looseKeys: [PrivateKey] = []

    /// All private keys.
    var keys: [PrivateKey] { identityKeys + looseKeys }

    /// Encodes the contents as a file.
    ///
    /// - Parameter passphrase: encrypts private keys; required for `pkcs12`, and for `pemseq` if there are keys.
    /// - Throws: `SecurityStatus`, `CertificateFailure`.
    func encoded(
        _ format: ExportFormat, passphrase: borrowing SecretBytes?, isArmored: Bool
    ) throws -> SecretBytes {
        let all = identities.map(\.certificate) + certificates
        var text = SecretBytes(capacity: 4096)
        switch format {
        case .pkcs12:
            // PKCS #12 files hold identities, and a key without a certificate is not one.
            if !looseKeys.isEmpty { throw SecurityStatus.unsupportedFormat }
            let file = try pkcs12(passphrase)
            if !isArmored { return file }
            file.withBytes { text.appendPEM($0, label: "PKCS12") }
        case .pemseq:
            for certificate in all { text.appendPEM(certificate.der.span, label: "CERTIFICATE") }
            for key in keys { try key.appendPEM(to: &text, passphrase: passphrase) }
        case .x509:
            guard keys.isEmpty else { throw SecurityStatus.unsupportedFormat }
            if isArmored {
                for certificate in all { text.appendPEM(certificate.der.span, label: "CERTIFICATE") }
            } else {
                try Self.requireOne(all.count)
                let der = all[0].der
                text.append(der.span)
            }
        case .pkcs8, .openssl:
            guard all.isEmpty || format == .openssl else { throw SecurityStatus.unsupportedFormat }
            if format == .pkcs8, !isArmored {
                try Self.requireOne(keys.count)
                switch passphrase {
                case .some(let passphrase): return try keys[0].encryptedPKCS8(passphrase: passphrase)
                case .none: return try keys[0].pkcs8()
                }
            }
            for certificate in all { text.appendPEM(certificate.der.span, label: "CERTIFICATE") }
            for key in keys {
                try key.appendPEM(to: &text, passphrase: passphrase, isTraditional: format == .openssl)
            }
        }
        return text
    }

    private func pkcs12(_ passphrase: borrowing SecretBytes?) throws -> SecretBytes {
        switch passphrase {
        case .some(let passphrase):
            return try PKCS12.make(identities: identities, certificates: certificates, passphrase: passphrase)
        case .none: throw SecurityStatus.passphraseRequired
        }
    }

    /// Without PEM, a DER file cannot separate several objects.
    private static func requireOne(_ count: Int) throws {
        guard count == 1 else {
            throw Failure(
                .unsupportedFormat, api: "SecKeychainItemExport", note: "more than one takes -p, or another format")
        }
    }
}

extension Session {
    /// Collects the contents of an export.
    ///
    /// - Throws: `errSecItemNotFound` if there are none, `errSecDataNotAvailable` for a key that cannot be exported,
    ///   and the first failure of a keychain, because a partial export would look complete.
    func exportContents(_ type: ExportType, in keychains: [LocalKeychain]) throws -> ExportContents {
        var contents = ExportContents()
        var placed: Set<ItemUUID> = []
        let api = "SecKeychainItemExport"
        if type == .identities || type == .all {
            let (identities, status) = try identities(in: keychains, api: api)
            try requireWhole(status)
            for identity in identities {
                try requireDeparture(of: identity.certificate.found.item)
                let certificate = try identity.certificate.requireCertificate()
                let key = try privateKey(of: identity.key)
                let label = identity.key.item.attributes.text(.labl)
                contents.identities.append(PKCS12.Identity(key: key, certificate: certificate, friendlyName: label))
                if placed.insert(identity.key.item.uuid).inserted { contents.identityKeys.append(key) }
                placed.insert(identity.certificate.found.item.uuid)
            }
        }
        if type == .certs || type == .all {
            let (certificates, status) = try certificates(CertificateCriteria(), in: keychains, api: api)
            try requireWhole(status)
            for certificate in certificates where !placed.contains(certificate.found.item.uuid) {
                try requireDeparture(of: certificate.found.item)
                contents.certificates.append(try certificate.requireCertificate())
            }
        }
        if type != .certs, type != .identities { try addKeys(type, in: keychains, besides: placed, to: &contents) }
        if contents.keys.isEmpty, contents.certificates.isEmpty, contents.identities.isEmpty {
            throw SecurityStatus.itemNotFound
        }
        return contents
    }

    private func addKeys(
        _ type: ExportType, in keychains: [LocalKeychain], besides placed: Set<ItemUUID>,
        to contents: inout ExportContents
    ) throws {
        var others = 0
        let status = try forEach(ItemQuery(itemClass: .key), in: keychains, api: "SecKeychainItemExport") { found in
            let isPrivate = found.item.attributes.number(.kcls) == KeyClass.privateKey.rawValue
            if placed.contains(found.item.uuid) { return }
            guard isPrivate else {
                if type != .privKeys { others += 1 }
                return
            }
            if type == .pubKeys { return }
            contents.looseKeys.append(try privateKey(of: found))
        }
        try requireWhole(status)
        if others > 0 {
            note("\(others) public or symmetric keys are not exported, which is not possible here", evenIfQuiet: true)
        }
    }

    private func requireWhole(_ status: ExitStatus) throws {
        if status != .ok { throw Failure(saying: "not everything could be read, so nothing is exported") }
    }

    /// Refuses an item that is in no export (`Departure`): a file without it would look complete.
    ///
    /// - Throws: `errSecDataNotAvailable`.
    private func requireDeparture(of item: Item) throws(Failure) {
        guard case .stays(let reason) = Departure.decide(item) else { return }
        let label = displayed(item.attributes.text(.labl) ?? "", limit: 100)
        throw Failure(
            .dataNotAvailable, api: "SecKeychainItemExport", note: "\"\(label)\" must not leave: \(reason.words)")
    }

    /// Returns the private key of an item.
    private func privateKey(of found: Found) throws -> PrivateKey {
        try requireDeparture(of: found.item)
        let attributes = found.item.attributes
        let label = displayed(attributes.text(.labl) ?? "", limit: 100)
        guard let kind = KeyKind(keyType: attributes.number(.type) ?? -1), let secret = try secret(of: found) else {
            throw Failure(
                .unsupportedFormat, api: "SecKeychainItemExport", note: "the key \"\(label)\" is of an unknown kind")
        }
        do throws(CertificateFailure) {
            return try PrivateKey(externalRepresentation: secret, kind: kind)
        } catch {
            throw Failure(.decode, api: "SecKeychainItemExport", note: "the data of \"\(label)\" is no private key")
        }
    }
}
