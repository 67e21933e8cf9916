internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// A certificate item and its parsed data.
struct FoundCertificate {
    let found: Session.Found
    /// Nil if the data is not a readable certificate; only its label is then known.
    let certificate: X509Certificate?

    /// The name for searching: the common name or, failing that, the summary or the item's label.
    var name: String {
        certificate?.commonName ?? certificate?.subjectSummary ?? found.item.attributes.text(.labl) ?? ""
    }

    /// Returns the parsed certificate.
    ///
    /// - Throws: `CertificateFailure.malformed` if there is none.
    func requireCertificate() throws(CertificateFailure) -> X509Certificate {
        guard let certificate else { throw .malformed("the data of an item is no certificate") }
        return certificate
    }
}

/// A certificate and its private key.
struct FoundIdentity {
    let certificate: FoundCertificate
    let key: Session.Found
}

/// Conditions on certificates.
struct CertificateCriteria {
    /// Part of the name.
    var name: String?
    /// An email address, compared case-insensitively.
    var emailAddress: String?
    /// A SHA-1 or SHA-256 fingerprint.
    var fingerprint: [UInt8]?

    /// True if the certificate satisfies all conditions.
    func match(_ candidate: FoundCertificate) -> Bool {
        if let name, !candidate.name.contains(name) { return false }
        if let emailAddress {
            let addresses =
                (candidate.certificate?.emailAddresses ?? [])
                + [candidate.found.item.attributes.text(.alis)].compactMap { $0 }
            guard addresses.contains(where: { $0.lowercased() == emailAddress.lowercased() }) else { return false }
        }
        if let fingerprint {
            guard let certificate = candidate.certificate else { return false }
            if fingerprint != certificate.sha1, fingerprint != certificate.sha256 { return false }
        }
        return true
    }

    /// Parses a fingerprint as tools print it, in upper or lower case, with or without colons.
    static func fingerprint(_ text: String) throws(UsageProblem) -> [UInt8] {
        let digits = text.lowercased().filter { $0 != ":" && $0 != " " }
        guard let bytes = Hexadecimal.decode(digits), bytes.count == 20 || bytes.count == 32 else {
            throw UsageProblem(reason: "the value of -Z is not a SHA-1 or SHA-256 fingerprint")
        }
        return bytes
    }
}

extension Session {
    /// Returns all certificates in the keychains that satisfy the conditions, keychain by keychain.
    ///
    /// - Returns: the certificates, and `failed` if something could not be read and was reported.
    func certificates(
        _ criteria: CertificateCriteria, in keychains: [LocalKeychain], api: String
    ) throws -> ([FoundCertificate], ExitStatus) {
        var certificates: [FoundCertificate] = []
        var isWhole = true
        let status = try forEach(ItemQuery(itemClass: .certificate), in: keychains, api: api) { found in
            do {
                let candidate = try certificate(of: found)
                if criteria.match(candidate) { certificates.append(candidate) }
            } catch KeychainStoreError.itemDamaged {
                // A certificate with a broken seal might be the wanted one, and must not hide the others.
                isWhole = false
                let label = displayed(found.item.attributes.text(.labl) ?? "", limit: 100)
                note(
                    "the seal of certificate \"\(label)\" in \(shownInMessages(found.local.path)) is broken, so it is passed over",
                    evenIfQuiet: true)
            }
        }
        return (certificates, isWhole ? status : .failed)
    }

    /// Returns all certificates whose private key is in the same keychain.
    ///
    /// - Returns: the identities, and `failed` if something could not be read and was reported.
    func identities(in keychains: [LocalKeychain], api: String) throws -> ([FoundIdentity], ExitStatus) {
        let (certificates, status) = try certificates(CertificateCriteria(), in: keychains, api: api)
        var identities: [FoundIdentity] = []
        for certificate in certificates {
            guard let hash = certificate.found.item.attributes[.pkhh] else { continue }
            let query = ItemQuery(itemClass: .key, attributes: [.kcls: .number(1), .klbl: hash], limit: 1)
            guard let key = try certificate.found.keychain.find(query).items.first else { continue }
            identities.append(
                FoundIdentity(
                    certificate: certificate,
                    key: Found(item: key, keychain: certificate.found.keychain, local: certificate.found.local)))
        }
        return (identities, status)
    }

    /// Parses a certificate item; if its data is not a certificate, uses its attributes.
    private func certificate(of found: Found) throws -> FoundCertificate {
        guard let data = try secret(of: found) else { return FoundCertificate(found: found, certificate: nil) }
        let der = data.withBytes { span in span.indices.map { span[$0] } }
        return FoundCertificate(found: found, certificate: try? X509Certificate(der: der))
    }
}
