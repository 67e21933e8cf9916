import ByteStreams
import Cryptography
import TestSupport
import Testing

@testable import DeviceIdentity

/// The device with the secret 0, 1, 2 … 31.
func sampleDevice(first: UInt8 = 0) throws -> DeviceKey {
    try DeviceKey(secret: SecretBytes(copying: (0..<32).map { $0 &+ first }))
}

@Suite struct DeviceKeyTests {
    // The values below were computed apart from this program, with another HMAC and the openssl command.
    @Test("the derivations never change: archives and keychains of ten years ago need them")
    func knownAnswers() throws {
        let device = try sampleDevice()
        let context = Array("store".utf8)
        #expect(
            Hexadecimal.encode(device.signingPublicKey)
                == "47c4fcb3104992f5733680e5b669ea6920c0ef59ce025372ed47aa4b8c677df0")
        #expect(device.id.description == "KC-7U4J-LIJC-63FV-HNPX-UOZT")
        let wrapping = try device.wrappingKey(context: context).bytesForTest()
        #expect(Hexadecimal.encode(wrapping) == "295594fa6b4ab3a812d4bb366fb17616b43625602d4c3ce58a38742a73c36aac")
        let bag = try device.keybagMACKey(context: context).bytesForTest()
        #expect(Hexadecimal.encode(bag) == "0d5cb8f9e2bf1cb4a9784d0d8de0c1679e4dd2ff74eeef6f2ead5775dd85a274")
        let state = try device.stateMACKey().bytesForTest()
        #expect(Hexadecimal.encode(state) == "a569b3c6bbf6a951d66be4b50a73353d373f170474b8eade574b859e95e491c4")
        let seal = try device.sealKeys(archiveID: [UInt8](repeating: 7, count: 32), mode: "encrypted")
        let sealKey = seal.key.bytesForTest()
        let commitment = seal.commitment
        #expect(Hexadecimal.encode(sealKey) == "a612fbd9d21cd185deae8b5eda79cf8125006189fcca1dc5150cf2331459aa45")
        #expect(Hexadecimal.encode(commitment) == "c6e517ee336dce0aafcfc857425cc373ea29a674178a310b9e7fe6557223e9e2")
        let passcode = try device.mixIntoPasscodeKey(
            scryptOutput: SecretBytes(copying: repeatElement(9, count: 32)), context: context
        ).bytesForTest()
        #expect(
            Hexadecimal.encode(passcode)
                == "f70c8d76e62eae8f4bd8d0da3e7dfceda2299d967741f3db7865197934dcc2bc"
                + "8d1b9dbe62f9ccee6a2d6088849a9ce2577ea9ae6e54dc733b60e54afcd826ba"
                + "10ddef1d3669997c837e93f9d6151fa430ea99e6caa363d59f3a1336f0a98a55")
    }

    @Test("device, purpose, context, archive and mode each give another key")
    func separation() throws {
        var keys: Set<[UInt8]> = []
        var made = 0
        for first: UInt8 in [0, 1] {
            let device = try sampleDevice(first: first)
            for context: [UInt8] in [[], [0], [0, 0]] {
                keys.insert(try device.wrappingKey(context: context).bytesForTest())
                keys.insert(try device.keybagMACKey(context: context).bytesForTest())
                let output = SecretBytes(copying: repeatElement(3, count: 32))
                let mixed = try device.mixIntoPasscodeKey(scryptOutput: output, context: context).bytesForTest()
                for start in [0, 32, 64] { keys.insert(Array(mixed[start..<start + 32])) }
                made += 5
            }
            keys.insert(try device.stateMACKey().bytesForTest())
            made += 1
            for mode in ["encrypted", "unencrypted"] {
                for archive: UInt8 in [1, 2] {
                    let seal = try device.sealKeys(archiveID: [UInt8](repeating: archive, count: 32), mode: mode)
                    let key = seal.key.bytesForTest()
                    keys.insert(key)
                    keys.insert(seal.commitment)
                    made += 2
                }
            }
        }
        #expect(keys.count == made)
    }

    @Test("no derivation's info is the beginning of another's")
    func labels() {
        let infos = DerivationLabel.allCases.flatMap { [$0.info(), $0.info([0]), $0.info([0], [0])] }
        for label in DerivationLabel.allCases {
            #expect(!label.rawValue.utf8.contains(0))
            for other in DerivationLabel.allCases where other != label {
                #expect(!other.info().starts(with: label.info()))
            }
        }
        #expect(Set(infos).count == infos.count)
        #expect(DerivationLabel.seal.info([1, 2], [3]) != DerivationLabel.seal.info([1], [2, 3]))
    }

    @Test("wrong lengths are refused")
    func lengths() throws {
        #expect(throws: CryptographyFailure.self) { _ = try DeviceKey(secret: SecretBytes(copying: [1])) }
        let device = try sampleDevice()
        #expect(throws: CryptographyFailure.self) { _ = try device.sealKeys(archiveID: [1], mode: "m").commitment }
        #expect(throws: CryptographyFailure.self) {
            _ = try device.mixIntoPasscodeKey(scryptOutput: SecretBytes(copying: 0..<31), context: []).count
        }
    }

    @Test("a device ID is parsed in any case, with or without dashes, and printed one way")
    func deviceID() throws {
        let id = try sampleDevice().id
        for text in ["KC-7U4J-LIJC-63FV-HNPX-UOZT", "kc7u4jlijc63fvhnpxuozt", "Kc-7u4jLIJC63fv-hnpx-UOZT-"] {
            #expect(DeviceID(text) == id)
        }
        #expect(DeviceID(id.description)?.description == "KC-7U4J-LIJC-63FV-HNPX-UOZT")
        for text in [
            "", "KC-", "KC-7U4J-LIJC-63FV-HNPX-UOZ", "KC-7U4J-LIJC-63FV-HNPX-UOZTA", "KC-7U4J-LIJC-63FV-HNPX-UOZ1",
            "XX-7U4J-LIJC-63FV-HNPX-UOZT", "7U4J-LIJC-63FV-HNPX-UOZT", "KC-7U4J-LIJC-63FV-HNPX-UOZÄ",
            "KC 7U4J LIJC 63FV HNPX UOZT",
        ] {
            #expect(DeviceID(text) == nil, "\(text)")
        }
        #expect(try DeviceKey.generate().id != DeviceKey.generate().id)
    }
}
