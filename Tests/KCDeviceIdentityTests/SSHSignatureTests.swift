import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCTestSupport
import Testing

@Suite("SSH signatures", .waitsForPrograms) struct SSHSignatureTests {
    private let device: DeviceKey
    private let message = Array("1234  kcbackup.json\n".utf8)

    init() throws {
        device = try DeviceKey(secret: SecretBytes(copying: 0..<32))
    }

    @Test("A signature identifies its signer and is valid only for its message")
    func roundTrip() throws {
        for message in [[], message, [UInt8](repeating: 7, count: 100_000)] {
            let signature = try SSHSignature.sign(message: message, with: device)
            #expect(try SSHSignature.verify(signature, message: message) == device.signingPublicKey)
            #expect(try SSHSignature.sign(message: message, with: device) == signature)
            #expect(throws: SSHSignatureFailure.doesNotFit) {
                try SSHSignature.verify(signature, message: message + [0])
            }
        }
    }

    @Test("A signature by a low-order key, which would match any message, is refused")
    func smallOrder() throws {
        func field(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
        let neutral = [1] + [UInt8](repeating: 0, count: 31)
        let type = field(Array("ssh-ed25519".utf8))
        let blob =
            Array("SSHSIG".utf8) + [0, 0, 0, 1] + field(type + field(neutral)) + field(Array("kcbackup".utf8))
            + field([]) + field(Array("sha512".utf8)) + field(type + field(neutral + [UInt8](repeating: 0, count: 32)))
        var text = "-----BEGIN SSH SIGNATURE-----\n"
        for (index, character) in Base64.encode(blob).enumerated() {
            if index > 0, index % 70 == 0 { text += "\n" }
            text.append(character)
        }
        let armored = Array((text + "\n-----END SSH SIGNATURE-----\n").utf8)
        #expect(throws: SSHSignatureFailure.doesNotFit) { try SSHSignature.verify(armored, message: message) }
    }

    @Test("A changed, missing or added byte is refused")
    func damage() throws {
        let signature = try SSHSignature.sign(message: message, with: device)
        for index in signature.indices {
            for bit: UInt8 in [1, 4, 0x20, 0x80] {
                var changed = signature
                changed[index] ^= bit
                #expect(throws: SSHSignatureFailure.self) { try SSHSignature.verify(changed, message: message) }
            }
        }
        for count in 0..<signature.count {
            #expect(throws: SSHSignatureFailure.malformed) {
                try SSHSignature.verify(Array(signature[..<count]), message: message)
            }
        }
        for added in [signature + [10], [10] + signature, signature + signature] {
            #expect(throws: SSHSignatureFailure.malformed) { try SSHSignature.verify(added, message: message) }
        }
    }

    @Test("ssh-keygen accepts our signature only for our message and namespace")
    func judgedByOpenSSH() throws {
        let folder = try TemporaryFolder()
        try folder.write("signature", SSHSignature.sign(message: message, with: device))
        try folder.write("signers", Array((device.allowedSignersLine + "\n").utf8))
        func verify(_ message: [UInt8], namespace: String = "kcbackup") throws -> Int32 {
            try ExternalProgram.run(
                "ssh-keygen",
                [
                    "-Y", "verify", "-f", folder.path("signers"), "-I", device.id.description, "-n", namespace, "-s",
                    folder.path("signature"),
                ], input: message
            ).status
        }
        #expect(try verify(message) == 0)
        #expect(try verify(message + [0]) != 0)
        #expect(try verify(message, namespace: "file") != 0)
    }

    @Test("A signature by ssh-keygen is accepted only with our namespace and SHA-512")
    func madeByOpenSSH() throws {
        let folder = try TemporaryFolder()
        let made = try ExternalProgram.run(
            "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder.path("key")])
        try #require(made.status == 0)
        let publicText = String(decoding: try folder.read("key.pub"), as: UTF8.self)
        let encoded: [UInt8]? = publicText.split(separator: " ").dropFirst().first.flatMap {
            Base64.decode(String($0.filter { !$0.isNewline }))
        }
        let publicKey = Array(try #require(encoded).suffix(32))
        #expect(SSHSignature.allowedSignersLine(publicKey: publicKey).hasSuffix(publicText.split(separator: " ")[1]))
        for (namespace, hash) in [("kcbackup", "sha512"), ("file", "sha512"), ("kcbackup", "sha256")] {
            let signed = try ExternalProgram.run(
                "ssh-keygen",
                ["-Y", "sign", "-f", folder.path("key"), "-n", namespace, "-O", "hashalg=\(hash)"], input: message)
            try #require(signed.status == 0)
            if namespace == "kcbackup", hash == "sha512" {
                #expect(try SSHSignature.verify(signed.output, message: message) == publicKey)
            } else {
                #expect(throws: SSHSignatureFailure.malformed) {
                    try SSHSignature.verify(signed.output, message: message)
                }
            }
        }
    }
}
