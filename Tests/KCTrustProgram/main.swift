import Foundation
import KeychainSecurity

// Evaluates a certificate with the system's anchors, which the environment of the process names. The tests run it.
//
// Arguments: `basic` or `server`, and files in DER, the first of which is evaluated. Prints whether it is trusted in 2031, or
// the code and the advice of the error; then the status of a call for the anchors, and their number.

let arguments = CommandLine.arguments.dropFirst()
let certificates = try arguments.dropFirst().compactMap {
    SecCertificateCreateWithData(nil, try Data(contentsOf: URL(filePath: $0)) as CFData)
}
let policy = arguments.first == "server" ? SecPolicyCreateSSL(true, nil) : SecPolicyCreateBasicX509()
var trust: SecTrust?
guard SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust) == errSecSuccess, let trust else {
    exit(64)
}
SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 1_925_000_000) as CFDate)
var error: CFError?
if SecTrustEvaluateWithError(trust, &error) {
    print("trusted")
} else {
    print(error?.code ?? 0, error?.localizedRecoverySuggestion ?? "")
}
var anchors: CFArray?
let status = SecTrustCopyAnchorCertificates(&anchors)
print(status, (anchors as? [SecCertificate])?.count ?? 0)
