import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("Device key") struct DeviceKeyTests {
    // The expected values were computed independently, with Python's hmac and openssl(1).
    private let device: DeviceKey

    init() throws {
        device = try DeviceKey(secret: SecretBytes(copying: 0..<32))
    }

    private func hex(_ secret: borrowing SecretBytes) -> String {
        Hexadecimal.encode(secret.bytesForTest())
    }

    @Test("The ID and public key of a device are derived from its secret")
    func identity() {
        #expect(
            Hexadecimal.encode(device.signingPublicKey)
                == "1a6a15de66ea1d97fdcad1ca473673606c89b6836b43b31526e51f205e269fe3")
        #expect(device.id.description == "KC-XNXS-ZUDT-L6BI-STV6-TX4P")
        #expect(device.id == DeviceID(publicKey: device.signingPublicKey))
    }

    @Test("Every derivation is HKDF with its label and context")
    func derivations() throws {
        let bag = Array("bag".utf8)
        #expect(
            hex(try device.wrappingKey(context: bag))
                == "e088cf6a153ed55df779f742e07dc4656dfb4a686e9b74aa89eda7192fc56d9c")
        #expect(
            hex(try device.keybagMACKey())
                == "ec4d2cde98cc13b61c64d77cdca3188f99f18a6c26a35fc64830f0414560922e")
        #expect(
            hex(try device.stateMACKey(context: Array("file".utf8)))
                == "2dd51ce0da99c299d2ee3fcc6e1d5ec70c46666af2947c974ca81ac9c150eaef")
        #expect(
            hex(try device.sessionKey(context: bag))
                == "725ecdbf4e1d12e14430fa924fe6e337b368a39a7866dc7f12b445ad8f817c03")
        let scrypt = SecretBytes(copying: repeatElement(0x22, count: 32))
        let expected =
            "6e3d156fcdda0e5931a6d5eb8293268e6153ced0dbf4bf297fe65f0ee5602ea6"
            + "e33ef4bbbd2306b6b5b61eeeb7909fabbcac5b8999f3ccbd16fba8bae0e22446"
            + "4997e0b0384951c44214c38c98f064b3c1192007ecdc2300cf08f90bd8e8e4b8"
            + "a251e4e286e3b0399ed65ff93365dc43e7796087799fc58a48f8d38acf86a1e5"
        #expect(hex(try device.mixIntoPasscodeKey(scryptOutput: scrypt, context: bag)) == expected)
        #expect(
            hex(try device.mixIntoTokenKey(sharedSecret: scrypt, context: bag))
                == "247fd4a12d7900adcf4b279093e6f45b160e55a7a82476ed4d1448deb7b378bf")
    }

    @Test("The seal keys of an archive are HKDF with its mode and archive ID")
    func sealKeys() throws {
        let archiveID = [UInt8](repeating: 0x11, count: 32)
        let keys = try device.sealKeys(archiveID: archiveID, mode: "encrypted")
        #expect(hex(keys.key) == "55830ae89805232ba9d80973140888435b4c8c0b85fc45241b07ab1a1a1f4452")
        #expect(
            Hexadecimal.encode(keys.commitment) == "bb19fb513828801b9b58506dfc798fe91ca6473c79062f3b9d22ad32eb712e52")
        #expect(throws: CryptographyFailure.self) { _ = try device.sealKeys(archiveID: [1], mode: "encrypted") }
        #expect(throws: CryptographyFailure.self) {
            _ = try device.sealKeys(archiveID: archiveID, mode: String(repeating: "m", count: 256))
        }
    }

    @Test("A different purpose, context, mode, archive, passcode or device gives a different key")
    func separation() throws {
        let other = try DeviceKey(secret: SecretBytes(copying: 1..<33))
        var keys: [[UInt8]] = []
        for device in [device, other] {
            for context: [UInt8] in [[], [1], [1, 2]] {
                keys.append(try device.wrappingKey(context: context).bytesForTest())
                keys.append(try device.keybagMACKey(context: context).bytesForTest())
                keys.append(try device.stateMACKey(context: context).bytesForTest())
                for byte: UInt8 in [1, 2] {
                    let scrypt = SecretBytes(copying: repeatElement(byte, count: 32))
                    let mixed = try device.mixIntoPasscodeKey(scryptOutput: scrypt, context: context).bytesForTest()
                    for start in [0, 32, 64] { keys.append(Array(mixed[start..<start + 32])) }
                }
            }
            for (mode, byte): (String, UInt8) in [("encrypted", 1), ("encrypted", 2), ("unencrypted", 1)] {
                let seal = try device.sealKeys(archiveID: [UInt8](repeating: byte, count: 32), mode: mode)
                keys.append(seal.key.bytesForTest())
                keys.append(seal.commitment)
            }
        }
        #expect(keys.allSatisfy { $0.count == 32 })
        #expect(Set(keys).count == keys.count)
    }

    @Test("A secret or scrypt output of the wrong length is refused")
    func lengths() {
        #expect(throws: CryptographyFailure.self) { _ = try DeviceKey(secret: SecretBytes(copying: 0..<31)) }
        #expect(throws: CryptographyFailure.self) { _ = try DeviceKey(secret: SecretBytes(capacity: 32)) }
        #expect(throws: CryptographyFailure.self) {
            _ = try device.mixIntoPasscodeKey(scryptOutput: SecretBytes(copying: 0..<31), context: [])
        }
    }

    @Test("A signature is a valid Ed25519 signature for the public key")
    func signature() throws {
        let message: [UInt8] = [1, 2, 3]
        let signature = try device.sign(message)
        #expect(
            try Ed25519.isValid(signature: signature, of: message.span, publicKey: device.signingPublicKey))
    }

    @Test("Labels are versioned, and none is a prefix of another")
    func labels() {
        let labels = DerivationLabel.allCases.map(\.rawValue)
        for label in labels {
            #expect(label.hasPrefix("kcbackup/v1/"))
            #expect(labels.filter { $0.hasPrefix(label) } == [label])
        }
    }
}
