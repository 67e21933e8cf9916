internal import Foundation
internal import KCByteStreams
internal import KCCryptography

/// The files of certificates that the system trusts.
enum SystemAnchorFiles {
    /// True if there are none, so that no chain is trusted without anchors of the program's own.
    static var areMissing: Bool {
        !(hasBundle && FileManager.default.isReadableFile(atPath: SystemAnchors.file))
            && SystemAnchors.folders.allSatisfy { names(in: $0)?.isEmpty != false }
    }

    /// The advice to the user if the files are missing.
    static var advice: String {
        let folders = SystemAnchors.folders.joined(separator: ", ")
        return "This system has no root certificates: \(SystemAnchors.file) and \(folders) are missing, unreadable or "
            + "empty. Install the package ca-certificates, or set SSL_CERT_FILE or SSL_CERT_DIR."
    }

    /// All certificates, each once.
    ///
    /// - Throws: `CallFailure`: `errSecTrustNotAvailable` if there are no files, `errSecIO`, `errSecDecode`.
    static func certificates() throws(CallFailure) -> [X509Certificate] {
        guard !areMissing else { throw CallFailure(errSecTrustNotAvailable) }
        var found: [X509Certificate] = []
        var known: Set<X509Certificate> = []
        for path in try paths() {
            guard let text = FileManager.default.contents(atPath: path) else { throw CallFailure(errSecIO) }
            do throws(CertificateFailure) {
                for certificate in try X509Certificate.all(inPEM: Array(text).span)
                where known.insert(certificate).inserted {
                    found.append(certificate)
                }
            } catch {
                throw CallFailure(error.status)
            }
        }
        return found
    }

    private static var hasBundle: Bool {
        FileManager.default.fileExists(atPath: SystemAnchors.file) && names(in: SystemAnchors.file) == nil
    }

    /// The names of the files in a folder; nil if it is none, or cannot be read.
    private static func names(in folder: String) -> [String]? {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            return nil
        }
    }

    /// The bundle, and the files in the folders that libcrypto would find: eight hexadecimal digits, a dot and a
    /// number.
    ///
    /// - Throws: `CallFailure` (`errSecIO`) for a folder that cannot be read.
    private static func paths() throws(CallFailure) -> [String] {
        var paths = hasBundle ? [SystemAnchors.file] : []
        for folder in SystemAnchors.folders where FileManager.default.fileExists(atPath: folder) {
            guard let names = names(in: folder) else { throw CallFailure(errSecIO) }
            paths += names.filter(isHashed).sorted().map { folder + "/" + $0 }
        }
        return paths
    }

    private static func isHashed(_ name: String) -> Bool {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 8, !parts[1].isEmpty else { return false }
        return Hexadecimal.decode(Substring(parts[0])) != nil
            && parts[1].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
