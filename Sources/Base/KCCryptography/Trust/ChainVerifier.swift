internal import CKCLibCrypto

/// Builds the chain from a certificate to an anchor, and verifies it (RFC 5280, 6).
///
/// Nothing is fetched: revocation is not checked, and the certificates between must be given.
package struct ChainVerifier: Sendable {
    /// The use of the key of the first certificate.
    package enum Purpose: Hashable, Sendable {
        /// Anything.
        case any
        /// A TLS server, with Apple's requirements for them.
        case server
        /// A TLS client.
        case client
    }

    /// The use of the key of the first certificate.
    package var purpose = Purpose.any
    /// The name that the first certificate must have; nil for any.
    package var host: HostName?
    /// Certificates that are trusted, self-signed or not.
    package var anchors: [X509Certificate] = []
    /// Whether the certificates that libcrypto finds on this system are trusted too.
    package var usesSystemAnchors = true
    /// The moment at which the certificates must be valid, in seconds since 1970-01-01T00:00:00Z.
    package let time: Int64

    /// Verifies at a moment.
    package init(time: Int64) {
        self.time = time
    }

    /// Verifies a certificate with the others that came with it, in any order; none of them is trusted.
    ///
    /// libcrypto builds a single chain. If that is not trusted because of an issuer, others are tried without that one.
    ///
    /// - Throws: `CertificateFailure` (`tooLarge`, `library`, and what parsing a system's certificate throws).
    package func verify(
        _ leaf: X509Certificate, with others: [X509Certificate]
    ) throws(CertificateFailure) -> ChainVerdict {
        try CertificateLimit.entryCount.check(others.count + anchors.count)
        defer { ERR_clear_error() }
        let store = try anchorStore()
        let first = try verdict(leaf, others, store)
        guard !first.isTrusted, first.mayDependOnIssuers, others.count <= Self.choiceLimit else { return first }
        var tried: Set<Set<X509Certificate>> = [[]]
        var pending: [(without: Set<X509Certificate>, verdict: ChainVerdict)] = [([], first)]
        while let (without, failed) = pending.first {
            pending.removeFirst()
            for issuer in failed.links.dropFirst().map(\.certificate) where others.contains(issuer) {
                let without = without.union([issuer])
                guard tried.insert(without).inserted else { continue }
                let next = try verdict(leaf, others.filter { !without.contains($0) }, store)
                if next.isTrusted { return next }
                if tried.count == Self.chainLimit { return first }
                pending.append((without, next))
            }
        }
        return first
    }

    /// The most chains that are tried; cross-signed authorities have a few.
    private static let chainLimit = 16

    /// The most certificates of which several chains are tried: each chain takes time for each certificate, and a peer
    /// may send thousands.
    private static let choiceLimit = 64
    private static let failure = CertificateFailure.library("verifying a certificate chain")

    /// The most findings that are listed: a chain has at most 100 certificates.
    private static let findingLimit = 1_000

    private func verdict(
        _ leaf: X509Certificate, _ others: [X509Certificate], _ store: borrowing LibCryptoObject
    ) throws(CertificateFailure) -> ChainVerdict {
        let context = unsafe try LibCryptoObject(
            X509_STORE_CTX_new(), freedBy: { unsafe X509_STORE_CTX_free($0) }, else: Self.failure)
        let verdict = try verdict(
            context, store: store, leaf: try leaf.object(), others: try Self.stack(of: others))
        guard purpose == .server else { return verdict }
        return ServerRequirements.applied(to: verdict)
    }

    private func verdict(
        _ context: borrowing LibCryptoObject, store: borrowing LibCryptoObject, leaf: borrowing LibCryptoObject,
        others: borrowing LibCryptoObject
    ) throws(CertificateFailure) -> ChainVerdict {
        try LibCrypto.check(
            unsafe X509_STORE_CTX_init(context.pointer, store.pointer, leaf.pointer, others.pointer),
            else: Self.failure)
        try configure(context)
        var codes = [Int32](repeating: 0, count: Self.findingLimit)
        var positions = codes
        var count = 0
        let status = unsafe codes.withUnsafeMutableBufferPointer { codes in
            unsafe positions.withUnsafeMutableBufferPointer { positions in
                var findings = unsafe kcbackup_findings(
                    codes: codes.baseAddress, positions: positions.baseAddress, capacity: Int32(codes.count), count: 0)
                let status = unsafe kcbackup_verify_chain(context.pointer, &findings)
                count = unsafe Int(findings.count)
                return status
            }
        }
        var verdict = try Self.chain(of: context, leaf)
        for (code, position) in zip(codes, positions).prefix(count) {
            verdict.add(problem(code, context, position), at: Int(position))
        }
        if status != 1 { verdict.add(.unfinished, at: 0) }
        // The anchor that libcrypto found is checked here too, where it is known.
        if !usesSystemAnchors, let last = verdict.links.last?.certificate, !anchors.contains(last) {
            verdict.addUntrustedEnd()
        }
        if host == .invalid { verdict.add(.hostName, at: 0) }
        Self.addDuplicates(of: context, to: &verdict)
        Self.addUnseen(of: context, to: &verdict)
        return verdict
    }

    /// Sets what is required, apart from an invalid host name, which libcrypto cannot be given.
    private func configure(_ context: borrowing LibCryptoObject) throws(CertificateFailure) {
        let parameters = unsafe X509_STORE_CTX_get0_param(context.pointer)
        // An anchor need not be self-signed. Policies count only where a certificate says so.
        let flags = X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_POLICY_CHECK
        try LibCrypto.check(unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(flags)), else: Self.failure)
        // Any policy will do where one is required (RFC 5280, 6.1.1 (c)); the object is static and is not freed.
        try LibCrypto.check(
            unsafe X509_VERIFY_PARAM_add0_policy(parameters, OBJ_nid2obj(NID_any_policy)), else: Self.failure)
        unsafe X509_VERIFY_PARAM_set_time(parameters, Int(time))
        // Level 1 refuses RSA below 1,024 bits, MD5 and SHA-1; level 2 refuses RSA below 2,048 bits too.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, purpose == .server ? 2 : 1)
        switch purpose {
        case .any: break
        case .server:
            try LibCrypto.check(
                unsafe X509_STORE_CTX_set_purpose(context.pointer, X509_PURPOSE_SSL_SERVER), else: Self.failure)
        case .client:
            try LibCrypto.check(
                unsafe X509_STORE_CTX_set_purpose(context.pointer, X509_PURPOSE_SSL_CLIENT), else: Self.failure)
        }
        switch host {
        case .dns(let name):
            // The common name is not the name of a server (RFC 9525, 6.3).
            unsafe X509_VERIFY_PARAM_set_hostflags(
                parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
            let text = name.map { CChar(bitPattern: $0) }
            try LibCrypto.check(
                unsafe X509_VERIFY_PARAM_set1_host(parameters, text, text.count), else: Self.failure)
        case .address(let bytes):
            try LibCrypto.check(
                unsafe X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count), else: Self.failure)
        case .invalid, nil: break
        }
    }

    private func anchorStore() throws(CertificateFailure) -> LibCryptoObject {
        let store = unsafe try LibCryptoObject(
            X509_STORE_new(), freedBy: { unsafe X509_STORE_free($0) }, else: Self.failure)
        for anchor in anchors {
            let object = try anchor.object()
            try LibCrypto.check(unsafe X509_STORE_add_cert(store.pointer, object.pointer), else: Self.failure)
        }
        if usesSystemAnchors {
            try LibCrypto.check(unsafe X509_STORE_set_default_paths(store.pointer), else: Self.failure)
        }
        return store
    }
}

extension ChainVerifier {
    private static func stack(of certificates: [X509Certificate]) throws(CertificateFailure) -> LibCryptoObject {
        let stack = unsafe try LibCryptoObject(
            OPENSSL_sk_new_null(), freedBy: { unsafe kcbackup_free_certificates($0) }, else: Self.failure)
        for certificate in certificates {
            let object = try certificate.object()
            try LibCrypto.check(unsafe X509_up_ref(object.pointer), else: Self.failure)
            guard unsafe OPENSSL_sk_push(stack.pointer, UnsafeRawPointer(object.pointer)) > 0 else {
                unsafe X509_free(object.pointer)
                throw LibCrypto.failing(Self.failure)
            }
        }
        return stack
    }

    /// The certificates of the chain, complete or not; the first alone, with a problem, if none was built.
    private static func chain(
        of context: borrowing LibCryptoObject, _ leaf: borrowing LibCryptoObject
    ) throws(CertificateFailure) -> ChainVerdict {
        var certificates: [X509Certificate] = []
        for element in unsafe LibCrypto.elements(of: X509_STORE_CTX_get0_chain(context.pointer)) {
            let der = unsafe try LibCrypto.encoded { unsafe i2d_X509(element.pointer, $0) }
            certificates.append(try X509Certificate(der: der))
        }
        if let first = certificates.first { return ChainVerdict(first, certificates.dropFirst()) }
        let alone = unsafe try LibCrypto.encoded { unsafe i2d_X509(leaf.pointer, $0) }
        var verdict = ChainVerdict(try X509Certificate(der: alone), [])
        verdict.add(.other, at: 0)
        return verdict
    }

    /// The problem of a certificate: libcrypto has one code for several extensions.
    private func problem(
        _ code: Int32, _ context: borrowing LibCryptoObject, _ position: Int32
    ) -> ChainProblem {
        let problem = ChainProblem(code: code)
        let chain = unsafe LibCrypto.elements(of: X509_STORE_CTX_get0_chain(context.pointer))
        guard chain.indices.contains(Int(position)) else { return problem }
        let certificate = chain[Int(position)]
        switch problem {
        case .extendedKeyUsage:
            let usages = unsafe X509_get_extended_key_usage(certificate.pointer)
            let wanted = purpose == .client ? XKU_SSL_CLIENT : XKU_SSL_SERVER | XKU_SGC
            return usages & UInt32(wanted) == 0 ? .extendedKeyUsage : .keyUsage
        case .notAuthority:
            // An authority, but one that may not sign certificates.
            return unsafe X509_get_extension_flags(certificate.pointer) & UInt32(EXFLAG_CA) == 0 ? problem : .keyUsage
        default: return problem
        }
    }

    /// Finds what libcrypto passes over: extensions that cannot be read, with which it does not ask for the purpose of a
    /// certificate that is an anchor, and wildcards for excluded names.
    private static func addUnseen(of context: borrowing LibCryptoObject, to verdict: inout ChainVerdict) {
        let chain = unsafe LibCrypto.elements(of: X509_STORE_CTX_get0_chain(context.pointer))
        guard let leaf = chain.first else { return }
        for (position, certificate) in chain.enumerated() {
            if unsafe X509_get_extension_flags(certificate.pointer) & UInt32(EXFLAG_INVALID) != 0 {
                verdict.add(.malformedExtension, at: position)
            }
            if position > 0, unsafe kcbackup_wildcard_is_excluded(leaf.pointer, certificate.pointer) == 1 {
                verdict.add(.nameConstraints, at: 0)
            }
        }
    }

    /// Finds certificates with two extensions of one kind (RFC 5280, 4.2), which libcrypto accepts if it does not know
    /// the kind.
    private static func addDuplicates(of context: borrowing LibCryptoObject, to verdict: inout ChainVerdict) {
        let chain = unsafe LibCrypto.elements(of: X509_STORE_CTX_get0_chain(context.pointer))
        for (position, certificate) in chain.enumerated() {
            var kinds: Set<[UInt8]> = []
            for index in unsafe 0..<max(0, X509_get_ext_count(certificate.pointer)) {
                let kind = unsafe X509_EXTENSION_get_object(X509_get_ext(certificate.pointer, index))
                let bytes = unsafe [UInt8](
                    UnsafeBufferPointer(start: OBJ_get0_data(kind), count: OBJ_length(kind)))
                if !kinds.insert(bytes).inserted { verdict.add(.duplicateExtension, at: position) }
            }
        }
    }
}

extension X509Certificate {
    /// The certificate as an `X509` of libcrypto.
    func object() throws(CertificateFailure) -> LibCryptoObject {
        unsafe try LibCryptoObject(
            decoding: der.span, freedBy: { unsafe X509_free($0) }, rule: "not an X.509 certificate"
        ) { next, count in unsafe d2i_X509(nil, next, count) }
    }
}
