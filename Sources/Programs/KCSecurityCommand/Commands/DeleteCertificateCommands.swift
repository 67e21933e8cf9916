internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore

extension Command {
    static let deleteCertificate = deleting("delete-certificate", "certificate", "Delete a certificate.")
    static let deleteIdentity = deleting("delete-identity", "identity", "Delete a certificate and its private key.")

    private static func deleting(_ name: String, _ what: String, _ summary: String) -> Command {
        Command(
            name, summary,
            flags: [
                Flag("c", .value("name"), "The common name, or a part of it"),
                Flag("Z", .value("hash"), "The SHA-1 or SHA-256 fingerprint"),
                Flag("t", .none, "Without meaning here"),
            ],
            operands: "[keychain...]", notes: ["One of -c and -Z is needed, and one \(what) has to match."]
        ) { words, session in
            guard let word = words.value("Z") ?? words.value("c"), words.has("Z") != words.has("c") else {
                throw UsageProblem()
            }
            var criteria = CertificateCriteria(name: words.value("c"))
            criteria.fingerprint = try words.value("Z").map { text throws(UsageProblem) in
                try CertificateCriteria.fingerprint(text)
            }
            return try session.calling("SecKeychainItemDelete") {
                try session.delete(criteria, word, what, words)
            }
        }
    }
}

extension Session {
    fileprivate func delete(
        _ criteria: CertificateCriteria, _ word: String, _ what: String, _ words: Words
    ) throws -> ExitStatus {
        let keychains = try searched(words.operands)
        var candidates: [(FoundCertificate, Found?)]
        let status: ExitStatus
        if what == "identity" {
            let (identities, found) = try identities(in: keychains, api: "SecIdentitySearchCopyNext")
            candidates = identities.filter { criteria.match($0.certificate) }.map { ($0.certificate, $0.key) }
            status = found
        } else {
            let (certificates, found) = try certificates(criteria, in: keychains, api: "SecKeychainSearchCopyNext")
            candidates = certificates.map { ($0, nil) }
            status = found
        }
        // A complete name selects that certificate, even if the names of others contain it.
        let exact = candidates.filter { $0.0.name.exact == criteria.name?.exact }
        if !exact.isEmpty { candidates = exact }
        // An unreadable certificate may have the same name, whereas a fingerprint is unique.
        guard let (certificate, key) = candidates.first, status == .ok || criteria.fingerprint != nil else {
            message("Unable to delete \(what) matching \"\(shownInMessages(word))\"\n")
            throw Failure.alreadyReported
        }
        guard candidates.count == 1 else {
            throw Failure(saying: "\"\(word)\" is ambiguous, matches more than one \(what)")
        }
        let keychain = certificate.found.keychain
        let kept = try keychain.write { writer in
            try writer.deleteIdentities(
                certificates: [certificate.found.item], keys: key.map { [$0.item] } ?? [], now: now)
        }
        if !kept.isEmpty { note("the private key stays: another certificate uses it") }
        return status
    }
}
