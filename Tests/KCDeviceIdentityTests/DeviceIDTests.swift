import KCCryptography
import KCDeviceIdentity
import Testing

@Suite("Device ID") struct DeviceIDTests {
    private let canonical = "KC-XNXS-ZUDT-L6BI-STV6-TX4P"

    @Test("An ID is the first 100 bits of the SHA-256 of the public key, in base32")
    func fromPublicKey() throws {
        let key = try #require(
            Hexadecimal.decode("1a6a15de66ea1d97fdcad1ca473673606c89b6836b43b31526e51f205e269fe3"))
        #expect(DeviceID(publicKey: key).description == canonical)
    }

    @Test(
        "An ID is read in any case and with any dashes, and always printed in canonical form",
        arguments: [
            "KC-XNXS-ZUDT-L6BI-STV6-TX4P", "kc-xnxs-zudt-l6bi-stv6-tx4p", "KCXNXSZUDTL6BISTV6TX4P",
            "kcXNXS-zudtl6bi--stv6tx4p-",
        ])
    func forgiving(text: String) {
        #expect(DeviceID(text)?.description == canonical)
        #expect(DeviceID(text) == DeviceID(canonical))
    }

    @Test(
        "Anything but an ID is refused",
        arguments: [
            "", "KC", "XNXS-ZUDT-L6BI-STV6-TX4P", "KC-XNXS-ZUDT-L6BI-STV6-TX4", "KC-XNXS-ZUDT-L6BI-STV6-TX4PA",
            "KC-XNXS-ZUDT-L6BI-STV6-TX41", "KC-XNXS-ZUDT-L6BI-STV6-TX4 ", "KC XNXS ZUDT L6BI STV6 TX4P",
            "KC-XNXS-ZUDT-L6BI-STV6-TXſP",
        ])
    func refused(text: String) {
        #expect(DeviceID(text) == nil)
    }
}
