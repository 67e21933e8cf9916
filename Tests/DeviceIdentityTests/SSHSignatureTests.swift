import ByteStreams
import Cryptography
import TestSupport
import Testing

@testable import DeviceIdentity

@Suite struct SSHSignatureTests {
    let message = Array("0123  kcbackup.json\n".utf8)

    @Test("a signature names the key that made it")
    func roundTrip() throws {
        let device = try sampleDevice()
        let signature = try SSHSignature.sign(message: message.span, with: device)
        #expect(try SSHSignature.verify(signature, message: message.span) == device.signingPublicKey)
    }

    @Test("another message, every flipped bit and every cut are refused")
    func forgeries() throws {
        let signature = try SSHSignature.sign(message: message.span, with: sampleDevice())
        #expect(throws: SSHSignatureFailure.invalid) {
            try SSHSignature.verify(signature, message: (message + [0]).span)
        }
        for bit in 0..<signature.count * 8 {
            var wrong = signature
            wrong[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: SSHSignatureFailure.self) { try SSHSignature.verify(wrong, message: message.span) }
        }
        for count in 0..<signature.count {
            #expect(throws: SSHSignatureFailure.malformed) {
                try SSHSignature.verify(Array(signature.prefix(count)), message: message.span)
            }
        }
        #expect(throws: SSHSignatureFailure.malformed) {
            try SSHSignature.verify(signature + [UInt8(ascii: "\n")], message: message.span)
        }
    }

    @Test("ssh-keygen accepts our signature, and only of our message in our namespace")
    func judgedByOpenSSH() throws {
        let device = try sampleDevice()
        let folder = try TemporaryFolder()
        try folder.write("signature", SSHSignature.sign(message: message.span, with: device))
        let allowed = try folder.write("allowed", Array((device.allowedSignersLine + "\n").utf8))
        func verify(_ input: [UInt8], _ namespace: String) throws -> Int32 {
            try ExternalProgram.run(
                "ssh-keygen",
                [
                    "-Y", "verify", "-f", allowed, "-I", device.id.description, "-n", namespace,
                    "-s", folder.path("signature"),
                ], input: input
            ).status
        }
        #expect(try verify(message, "kcbackup") == 0)
        #expect(try verify(message + [0], "kcbackup") != 0)
        #expect(try verify(message, "file") != 0)
    }

    @Test(
        "we accept ssh-keygen's signature, and only in our namespace and with our hash",
        arguments: [
            (["-n", "kcbackup"], true), (["-n", "kcbackuq"], false),
            (["-n", "kcbackup", "-O", "hashalg=sha256"], false),
        ])
    func judgingOpenSSH(options: [String], accepted: Bool) throws {
        let folder = try TemporaryFolder()
        let made = try ExternalProgram.run(
            "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", folder.path("key")])
        try #require(made.status == 0)
        let signed = try ExternalProgram.run(
            "ssh-keygen", ["-Y", "sign", "-f", folder.path("key")] + options, input: message)
        try #require(signed.status == 0)
        let key = String(decoding: try folder.read("key.pub"), as: UTF8.self).split(separator: " ")[1]
        if accepted {
            let publicKey = try SSHSignature.verify(signed.output, message: message.span)
            #expect(SSHSignature.allowedSignersLine(publicKey: publicKey).hasSuffix(" " + key))
        } else {
            #expect(throws: SSHSignatureFailure.malformed) {
                try SSHSignature.verify(signed.output, message: message.span)
            }
        }
    }
}
