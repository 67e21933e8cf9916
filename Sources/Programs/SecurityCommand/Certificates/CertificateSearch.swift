internal import ByteStreams
internal import Cryptography
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// A certificate that was found, and what its data says.
struct FoundCertificate {
    let found: Session.Found
    /// Nil when the data is no certificate that can be read; it is then known by its label alone.
    let certificate: X509Certificate?

    /// The name by which it is found: the common name, else the summary, else the item's label.
    var name: String {
        certificate?.commonName ?? certificate?.subjectSummary ?? found.item.attributes.text(.labl) ?? ""
    }

    /// The data.
    ///
    /// - Throws: `CertificateFailure.malformed` when it is no certificate.
    func requireCertificate() throws(CertificateFailure) -> X509Certificate {
        guard let certificate else { throw .malformed("the data of an item is no certificate") }
        return certificate
    }
}

/// A certificate with the private key of its public key.
struct FoundIdentity {
    let certificate: FoundCertificate
    let key: Session.Found
}

/// Which certificates are meant.
struct CertificateCriteria {
    /// A part of the name.
    var name: String?
    /// An email address, in any case.
    var emailAddress: String?
    /// A SHA-1 or SHA-256 fingerprint.
    var fingerprint: [UInt8]?

    /// True when the certificate has all that is asked for.
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

    /// Reads a fingerprint as tools print it, in digits of either case, with or without colons.
    ///
    /// - Throws: `UsageProblem`.
    static func fingerprint(_ text: String) throws(UsageProblem) -> [UInt8] {
        let digits = text.lowercased().filter { $0 != ":" && $0 != " " }
        guard let bytes = Hexadecimal.decode(digits), bytes.count == 20 || bytes.count == 32 else {
            throw UsageProblem(reason: "the value of -Z is not a SHA-1 or SHA-256 fingerprint")
        }
        return bytes
    }
}

extension Session {
    /// Every certificate of some keychains that criteria mean, keychain by keychain.
    ///
    /// - Returns: the certificates, and `failed` when something could not be read, each of which was told.
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
                // It might be the one that is meant, and hides none of the others.
                isWhole = false
                let label = displayed(found.item.attributes.text(.labl) ?? "", limit: 100)
                note(
                    "the seal of certificate \"\(label)\" in \(told(found.local.path)) is broken, so it is passed over",
                    evenIfQuiet: true)
            }
        }
        return (certificates, isWhole ? status : .failed)
    }

    /// Every certificate whose private key is in the same keychain.
    ///
    /// - Returns: the identities, and `failed` when something could not be read, each of which was told.
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

    /// Reads the data of a certificate's item; what is there and is no certificate is known by its attributes.
    private func certificate(of found: Found) throws -> FoundCertificate {
        guard let data = try secret(of: found) else { return FoundCertificate(found: found, certificate: nil) }
        let der = data.withBytes { span in span.indices.map { span[$0] } }
        return FoundCertificate(found: found, certificate: try? X509Certificate(der: der))
    }
}
