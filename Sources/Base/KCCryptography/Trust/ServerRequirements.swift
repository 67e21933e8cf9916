internal import CKCLibCrypto

/// The requirements of Apple's systems for the certificates of TLS servers, besides RFC 5280 and the strength of keys
/// and hashes.
///
/// Source: Apple's support article HT210176, "Requirements for trusted certificates in iOS 13 and macOS 10.15". The limit
/// of 398 days (HT211025) is for authorities that came with the system; which these are is not known here.
enum ServerRequirements {
    /// 2019-07-01T00:00:00Z; the requirements are for certificates that are valid only after it.
    private static let start: Int64 = 1_561_939_200
    /// 825 days and an hour, in seconds.
    private static let longestValidity: Int64 = 825 * 86_400 + 3_600

    /// Adds what a server's certificate, the first of the chain, does not meet.
    static func applied(to verdict: ChainVerdict) -> ChainVerdict {
        var verdict = verdict
        guard let leaf = verdict.links.first?.certificate, leaf.notBefore > start else { return verdict }
        if !leaf.isForServers { verdict.add(.extendedKeyUsage, at: 0) }
        if leaf.notAfter - leaf.notBefore > longestValidity { verdict.add(.longValidity, at: 0) }
        return verdict
    }
}

extension X509Certificate {
    /// True if the extension extendedKeyUsage is there and names TLS servers.
    fileprivate var isForServers: Bool {
        defer { ERR_clear_error() }
        do {
            let object = try object()
            let usages = unsafe X509_get_extended_key_usage(object.pointer)
            return usages != UInt32.max && usages & UInt32(XKU_SSL_SERVER) != 0
        } catch {
            return false
        }
    }
}
