/// The private key of a passkey, in the forms that programs write.
enum PasskeySample {
    /// PKCS #8 in base64url, as an import keeps it.
    static let key =
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze-hRANCAARHHD51jEkEKFu6"
        + "flMRjtD1JK3rB1fSW9L457DXbfpxTN1SD3rKiouResw39R3o8Mm7462Fg4LnAtwloS0J96hY"
    /// The same key as SEC 1.
    static let sec1 =
        "MHcCAQEEIBI0VniQq83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83voAoGCCqGSM49AwEHoUQDQgAERxw-dYxJBChbun5TEY7Q9SSt6wdX0lvS-Oew"
        + "1236cUzdUg96yoqLkXrMN_Ud6PDJu-OthYOC5wLcJaEtCfeoWA=="

    /// The key as PEM.
    static func pem(width: Int = 64, end: String = "\n") -> String {
        let base64 = Array(key.replacing("-", with: "+").replacing("_", with: "/"))
        let lines = stride(from: 0, to: base64.count, by: width).map {
            String(base64[$0..<min($0 + width, base64.count)])
        }
        return (["-----BEGIN PRIVATE KEY-----"] + lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: end)
    }
}
