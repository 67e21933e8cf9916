internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel
internal import KCSecurityStatus

extension Command {
    static let findCertificate = Command(
        "find-certificate", "Find certificates.",
        flags: [
            Flag("a", .none, "Show all that match, and not the first alone"),
            Flag("c", .value("name"), "A part of the common name"),
            Flag("e", .value("address"), "An email address of the certificate"),
            Flag("m", .none, "Show the email addresses as well"),
            Flag("p", .none, "Print the certificate in PEM and not its attributes"),
            Flag("Z", .none, "Show the fingerprints as well"),
        ],
        operands: "[keychain...]", notes: ["With -a, nothing that matches is no error."]
    ) { words, session in
        try session.calling("SecKeychainSearchCopyNext") { try session.findCertificates(words) }
    }

    static let findIdentity = Command(
        "find-identity", "Find certificates with their private keys.",
        flags: [
            Flag("p", .value("policy"), "What it is for; named in the output, and not checked", isRepeatable: true),
            Flag("s", .value("string"), "Without meaning here"),
            Flag("v", .none, "Show those alone that are within their time"),
        ],
        operands: "[keychain...]",
        notes: ["No chain is built and no trust looked up: valid means within the time that the certificate states."]
    ) { words, session in
        try session.calling("SecIdentitySearchCopyNext") { try session.findIdentities(words) }
    }
}

extension Session {
    fileprivate func findCertificates(_ words: Words) throws -> ExitStatus {
        let criteria = CertificateCriteria(name: words.value("c"), emailAddress: words.value("e"))
        let keychains = try searched(words.operands)
        var (certificates, status) = try certificates(criteria, in: keychains, api: "SecKeychainSearchCopyNext")
        if !words.has("a") {
            // An unreadable certificate might have matched.
            if certificates.isEmpty {
                throw status == .ok ? Failure(.itemNotFound, api: "SecKeychainSearchCopyNext") : Failure.alreadyReported
            }
            certificates = [certificates[0]]
            status = .ok
        }
        for candidate in certificates {
            var text: [UInt8] = []
            if words.has("m") {
                let addresses = candidate.certificate?.emailAddresses ?? []
                text.append(utf8: "email addresses: \(shown(addresses.joined(separator: ", ")))\n")
            }
            if words.has("Z") { text.appendFingerprints(of: try candidate.requireCertificate()) }
            if words.has("p") {
                let der = try candidate.requireCertificate().der
                text.appendPEM(der.span, label: "CERTIFICATE")
            } else {
                text += listing(of: candidate.found.item, in: listed(candidate.found.local))
            }
            try write(text.span)
        }
        return status
    }

    fileprivate func findIdentities(_ words: Words) throws -> ExitStatus {
        let policies = try (words.values["p"] ?? ["basic"]).map { word throws(UsageProblem) in
            guard let policy = policyNames[word] else {
                throw UsageProblem(
                    reason: "the policy is not one of \(policyNames.keys.sorted().joined(separator: ", "))")
            }
            return policy
        }
        let (identities, status) = try identities(
            in: searched(words.operands), api: "SecIdentitySearchCopyNext")
        let valid = identities.filter { objection($0) == nil }
        for policy in policies {
            if !words.has("v") {
                try write("\nPolicy: \(policy)\n  Matching identities\n" + lines(identities))
                try write("     \(identities.count) identities found\n\n  Valid identities only\n")
            }
            try write(lines(valid) + "     \(valid.count) valid identities found\n")
        }
        return status
    }

    private func lines(_ identities: [FoundIdentity]) -> String {
        identities.enumerated().map { position, identity in
            let certificate = identity.certificate
            let hash = certificate.certificate.map { Hexadecimal.encode($0.sha1).uppercased() } ?? "?"
            let objection = objection(identity).map { " (\($0))" } ?? ""
            return "  \(position + 1)) \(hash) \"\(shown(certificate.name))\"\(objection)\n"
        }.joined()
    }

    /// Returns why an identity is not valid now, in macOS's words; nil if it is valid.
    private func objection(_ identity: FoundIdentity) -> String? {
        guard let certificate = identity.certificate.certificate else { return "CSSMERR_CL_UNKNOWN_FORMAT" }
        if now.seconds > certificate.notAfter { return "CSSMERR_TP_CERT_EXPIRED" }
        if now.seconds < certificate.notBefore { return "CSSMERR_TP_CERT_NOT_VALID_YET" }
        return nil
    }
}

/// macOS's policies: the `-p` argument and the printed name.
private let policyNames = [
    "basic": "X.509 Basic", "codesigning": "Code Signing", "eap": "EAP", "ipsec": "IPSec", "smime": "S/MIME",
    "ssl-client": "SSL (client)", "ssl-server": "SSL (server)", "sys-default": "System Default",
    "sys-kerberos-kdc": "Kerberos KDC",
]
