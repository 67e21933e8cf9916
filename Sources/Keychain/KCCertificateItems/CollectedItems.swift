internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// Collects the certificates and keys of a file without duplicates, and creates their items.
struct CollectedItems {
    private(set) var privateKeys: [PrivateKey] = []
    private(set) var publicKeys: [PublicKey] = []
    private(set) var certificates: [X509Certificate] = []
    private(set) var skipped: [String] = []
    private(set) var items: [ImportedItem] = []
    private(set) var identities: [IdentityPair] = []
    /// The names that a PKCS#12 file gives keys, by public key hash.
    private var names: [[UInt8]: String] = [:]
    private var seen: Set<[UInt8]> = []

    init(
        _ file: borrowing Span<UInt8>, _ passphrase: borrowing SecretBytes?
    ) throws(CertificateFailure) {
        switch CertificateFormat(of: file) {
        case nil: throw .unknownFormat
        case .pem: try readBlocks(of: file, passphrase)
        case .certificate: try add(X509Certificate(der: file.array))
        case .publicKey: try add(PublicKey(der: file.array))
        case .pkcs8, .encryptedPKCS8, .pkcs1, .sec1: add(try PrivateKey(der: file, passphrase: passphrase), name: nil)
        case .pkcs7: try readPKCS7(file)
        case .pkcs12: try readPKCS12(file, passphrase)
        }
        guard privateKeys.isEmpty, publicKeys.isEmpty, certificates.isEmpty else { return }
        throw skipped.first.map { .unsupported($0) } ?? .unsupported("a file without certificates and keys")
    }

    private mutating func readPKCS12(
        _ file: borrowing Span<UInt8>, _ passphrase: borrowing SecretBytes?
    ) throws(CertificateFailure) {
        let contents = try PKCS12.open(file, passphrase: passphrase)
        for identity in contents.identities {
            add(identity.key, name: identity.friendlyName)
            add(identity.certificate)
        }
        for entry in contents.keys { add(entry.value, name: entry.friendlyName) }
        for entry in contents.certificates { add(entry.value) }
        for _ in 0..<contents.otherCount { skipped.append("an entry of PKCS#12 that is neither certificate nor key") }
    }

    private mutating func readPKCS7(_ file: borrowing Span<UInt8>) throws(CertificateFailure) {
        let contents = try PKCS7Certificates.read(file)
        for certificate in contents.certificates { add(certificate) }
        for _ in 0..<contents.otherCount { skipped.append("a revocation list") }
    }

    private mutating func readBlocks(
        of file: borrowing Span<UInt8>, _ passphrase: borrowing SecretBytes?
    ) throws(CertificateFailure) {
        var reader = PEMKeyReader()
        for block in try PEM.blocks(in: file) {
            switch block.content {
            case .certificate:
                add(
                    try block.bytes.withBytes { (der) throws(CertificateFailure) in
                        try X509Certificate(der: der.array)
                    })
            case .publicKey:
                add(
                    try block.bytes.withBytes { (der) throws(CertificateFailure) in
                        try PublicKey(der: der.array)
                    })
            case .privateKey: add(try reader.read(block, passphrase: passphrase), name: nil)
            case .pkcs7: try block.bytes.withBytes { (der) throws(CertificateFailure) in try readPKCS7(der) }
            case .other: skipped.append(block.label)
            }
        }
    }

    private mutating func add(_ certificate: X509Certificate) {
        if seen.insert(certificate.der).inserted { certificates.append(certificate) }
    }

    private mutating func add(_ key: PublicKey) {
        if seen.insert(key.subjectPublicKeyInfo).inserted { publicKeys.append(key) }
    }

    private mutating func add(_ key: PrivateKey, name: String?) {
        // A key and its public half, in two blocks of one file, become two items.
        guard seen.insert([0] + key.publicKey.subjectPublicKeyInfo).inserted else { return }
        privateKeys.append(key)
        names[key.publicKeyHash] = name
    }

    /// Pairs keys with certificates, and creates the items.
    mutating func makeItems() throws(CertificateFailure) {
        let firstCertificate = privateKeys.count + publicKeys.count
        let pairs = IdentityPair.all(
            keys: privateKeys.map(\.publicKey), certificates: certificates.map(\.publicKey))
        identities = pairs.map { IdentityPair(key: $0.key, certificate: firstCertificate + $0.certificate) }
        var firstCertificates: [Int: X509Certificate] = [:]
        for pair in pairs where firstCertificates[pair.key] == nil {
            firstCertificates[pair.key] = certificates[pair.certificate]
        }
        for (index, key) in privateKeys.enumerated() {
            let certificate = firstCertificates[index]
            let name = names[key.publicKeyHash] ?? certificate?.subjectSummary ?? "Imported Private Key"
            var draft = try ItemDraft(privateKey: key, label: name)
            // A certificate may contain the point in compressed form; then the key is found by the hash of that form.
            if let certificate { draft.attributes[.klbl] = .data(certificate.publicKeyHash) }
            items.append(ImportedItem(draft, try key.externalRepresentation()))
        }
        for key in publicKeys {
            let draft = try ItemDraft(publicKey: key, label: "Imported Public Key")
            items.append(ImportedItem(draft, SecretBytes(key.externalRepresentation.span)))
        }
        for certificate in certificates {
            items.append(ImportedItem(ItemDraft(certificate: certificate), certificate.keychainSecret))
        }
    }
}

extension Span<UInt8> {
    /// A copy of bytes that are not secret.
    fileprivate var array: [UInt8] { indices.map { self[$0] } }
}
