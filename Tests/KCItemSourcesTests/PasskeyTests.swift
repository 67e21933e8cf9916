import KCByteStreams
import KCItemSources
import KCTestSupport
import Testing

@Suite("Passkeys of other programs")
struct PasskeyTests {
    private static let key =
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze-hRANCAARHHD51jEkEKFu6"
        + "flMRjtD1JK3rB1fSW9L457DXbfpxTN1SD3rKiouResw39R3o8Mm7462Fg4LnAtwloS0J96hY"
    private static let sec1 =
        "MHcCAQEEIBI0VniQq83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83voAoGCCqGSM49AwEHoUQDQgAERxw-dYxJBChbun5TEY7Q9SSt6wdX0lvS-Oew"
        + "1236cUzdUg96yoqLkXrMN_Ud6PDJu-OthYOC5wLcJaEtCfeoWA=="

    private static let standard = key.replacing("-", with: "+").replacing("_", with: "/")

    private static func pem(_ base64: String, width: Int, end: String) -> String {
        let text = Array(base64)
        let lines = stride(from: 0, to: text.count, by: width).map { String(text[$0..<min($0 + width, text.count)]) }
        return (["-----BEGIN PRIVATE KEY-----"] + lines + ["-----END PRIVATE KEY-----"]).joined(separator: end)
    }

    @Test(
        "A key is PKCS #8 in base64url without padding, whatever its form was",
        arguments: [
            key, standard, standard + "==", sec1, sec1.replacing("=", with: ""), pem(standard, width: 64, end: "\n"),
            pem(standard, width: 64, end: "\r\n"), pem(standard, width: 1_000, end: ""),
            pem(sec1, width: 1_000, end: " "),
        ])
    func keys(form: String) {
        let passkey = Passkey(id: "AQ", host: "rp.example", key: SecretBytes(copying: form.utf8))
        let (isKey, bytes) = (passkey.isKey, passkey.key.bytesForTest())
        #expect(isKey)
        #expect(bytes == Array(Self.key.utf8))
    }

    @Test("What is no key stays as it is, and is known as that", arguments: ["", "no key", "MIGH", "AAEC"])
    func others(text: String) {
        let passkey = Passkey(id: "AQ", host: "rp.example", key: SecretBytes(copying: text.utf8))
        let (isKey, bytes) = (passkey.isKey, passkey.key.bytesForTest())
        #expect(!isKey)
        #expect(bytes == Array(text.utf8))
    }

    @Test(
        "The ID of a credential is base64url without padding",
        arguments: [
            ("b64.HGNGpvHQ-_8", "HGNGpvHQ-_8"), ("HGNGpvHQ+/8=", "HGNGpvHQ-_8"),
            ("a2e10494-af23-400c-8146-23234e1830ed", "ouEElK8jQAyBRiMjThgw7Q"),
        ])
    func identifiers(given: String, expected: String) {
        let passkey = Passkey(id: given, host: "h", key: SecretBytes(copying: []))
        let id = passkey.id
        #expect(id == expected)
    }
}
