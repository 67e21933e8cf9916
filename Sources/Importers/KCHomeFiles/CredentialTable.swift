internal import KCByteStreams

/// Where systemd looks for credentials of services (systemd.exec(5), `LoadCredential=`).
enum CredentialTable {
    static let sources: [HomeSource] = [
        HomeSource("credentials", places.map { .take("\($0)/credstore/**", limit: plainLimit, clear: .always) }),
        HomeSource(
            "encrypted credentials", places.map { .take("\($0)/credstore.encrypted/**", limit: encryptedLimit) }),
    ]

    private static let places = ["etc", "run", "usr/local/lib", "usr/lib"]

    /// The user's own, which services of the user load.
    static let ofUser = HomeSource(
        "systemd credentials",
        [
            .take(".config/credstore/**", limit: plainLimit, clear: .always),
            .take(".config/credstore.encrypted/**", limit: encryptedLimit),
        ])

    /// True for the path of a file in a folder of encrypted credentials.
    static func isEncrypted(_ path: HomePath) -> Bool {
        path.names.contains { $0.exact == "credstore.encrypted".exact }
    }

    // The maximum size of a credential in bytes (systemd.exec(5)), and of one that is encrypted, in base64 with line ends.
    private static let plainLimit = 1 << 20
    private static let encryptedLimit = 2 << 20
}
