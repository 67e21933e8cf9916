// Fence: returns objects through pointers, as Apple's functions do.
public import Foundation
internal import KCCryptography

/// An X.509 certificate.
public final class SecCertificate: Hashable, Sendable, CustomStringConvertible {
    let certificate: X509Certificate

    init(_ certificate: X509Certificate) {
        self.certificate = certificate
    }

    /// Creates a certificate; nil if the bytes are not a certificate in DER.
    convenience init?(_ der: Data) {
        guard let certificate = try? X509Certificate(der: Array(der)) else { return nil }
        self.init(certificate)
    }

    /// The DER.
    var data: Data { Data(certificate.der) }

    /// Compares the bytes.
    public static func == (left: SecCertificate, right: SecCertificate) -> Bool {
        left.certificate == right.certificate
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(certificate) }

    /// The type name and the subject, in one line.
    public var description: String { "<SecCertificate: \(certificate.subjectSummary ?? "")>" }
}

/// Creates a certificate; nil if `data` is not a certificate in DER.
///
/// ```swift
/// let der = try Data(contentsOf: URL(filePath: "/etc/mail/mail.der"))
/// if let certificate = SecCertificateCreateWithData(nil, der as CFData) {
///     print(SecCertificateCopySubjectSummary(certificate) as String? ?? "")
///     SecItemAdd([kSecClass: kSecClassCertificate, kSecValueRef: certificate] as CFDictionary, nil)
/// }
/// ```
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    SecCertificate(data as Data)
}

/// Returns the DER of a certificate.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData {
    certificate.data as CFData
}

/// Returns a one-line description of a certificate: its common name, or the next best attribute; nil if the subject has
/// no text.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? {
    certificate.certificate.subjectSummary as CFString?
}

/// Copies the common name of the subject.
///
/// - Returns: `errSecSuccess`, with nil if there is no common name.
@discardableResult
public func SecCertificateCopyCommonName(
    _ certificate: SecCertificate, _ commonName: UnsafeMutablePointer<CFString?>
) -> OSStatus {
    unsafe commonName.pointee = certificate.certificate.commonName as CFString?
    return errSecSuccess
}

/// Copies the email addresses of a certificate, possibly none.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecCertificateCopyEmailAddresses(
    _ certificate: SecCertificate, _ emailAddresses: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    unsafe emailAddresses.pointee = certificate.certificate.emailAddresses as CFArray
    return errSecSuccess
}

/// Returns the serial number: the content of its INTEGER, big-endian.
public func SecCertificateCopySerialNumberData(
    _ certificate: SecCertificate, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    Data(certificate.certificate.serialNumber) as CFData
}

/// Returns the issuer in the normalized form that the keychain stores.
public func SecCertificateCopyNormalizedIssuerSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.certificate.normalizedIssuer) as CFData
}

/// Returns the subject in the normalized form that the keychain stores.
public func SecCertificateCopyNormalizedSubjectSequence(_ certificate: SecCertificate) -> CFData? {
    Data(certificate.certificate.normalizedSubject) as CFData
}
