import KCByteStreams
import KCCertificateItems
import KCCryptography
import KCRecoveryKits

@testable import KCAgeEncryption
@testable import KCDeviceIdentity
@testable import KCKeychainKeys
@testable import KCKeychainModel

extension FuzzTarget {
    /// The targets for texts that hold keys, and for those that people type.
    static let keys = [
        FuzzTarget("bech32", ["age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"]) { bytes in
            var decoded: [UInt8] = []
            guard Bech32.decode(bytes.span, prefix: "age", uppercase: false, into: &decoded) else { return }
            var text: [UInt8] = []
            Bech32.encode(prefix: "age", decoded.span, uppercase: false, into: &text)
            try require(text == bytes, "a key is spelled in one way")
        },
        FuzzTarget("identity-file", [identity], refusing: { $0 is AgeFailure }) { bytes in
            _ = try IdentityFile.parse(SecretBytes(copying: bytes))
        },
        FuzzTarget("recipient-file", ["# a\nage1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj\n"]) {
            bytes in
            do throws(AgeFailure) { _ = try RecipientFile.parse(String(decoding: bytes, as: UTF8.self)) } catch {}
        },
        FuzzTarget(
            "plugin-messages", ["-> msg a\nSGVsbG8\n-> done\n\n"], refusing: { $0 is PluginMessageFailure }
        ) { bytes in
            var reader = PluginMessageReader(MemorySource(copying: bytes), limitInBytes: 1 << 16)
            var text = SecretBytes(capacity: bytes.count)
            while let message = try reader.next() { message.encode(into: &text) }
            try require(constantTimeEqual(text, SecretBytes(copying: bytes)), "a message is spelled in one way")
        },
        FuzzTarget("keybag", [keybag], refusing: { $0 is MalformedLine || $0 is KeybagFailure }) { bytes in
            var reader = KeybagReader()
            _ = try reader.read(bytes.span)
        },
        FuzzTarget("device-key", [deviceKey], refusing: { $0 is DeviceKeyText.Malformed }) { bytes in
            _ = try DeviceKeyContents(parsing: SecretBytes(copying: bytes))
        },
        FuzzTarget("signature", bytes: [signature], refusing: { $0 is SSHSignatureFailure }) { bytes in
            _ = try SSHSignature.verify(bytes, message: [0x61])
        },
        FuzzTarget("state", ["folder /x\nplace /y\ntime 02:00\nstores every-keychain\nmode encrypted\n"]) { bytes in
            guard let fields = StateFields(parsing: bytes) else { return }
            try require(StateFields(parsing: fields.encoded) == fields, "lines are read as they are written")
        },
        FuzzTarget("kit", [identity, "1 AGES-ECRE\n"]) { bytes in
            var entry = KitEntry()
            for line in bytes.split(separator: UInt8(ascii: "\n")) where entry.nextLine != nil {
                _ = entry.take(SecretBytes(copying: Array(line)))
            }
        },
        FuzzTarget("share", ["academic acid acne acquire\n3 ? adult\n"]) { bytes in
            var entry = ShareEntry()
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                let line = SecretBytes(copying: Array(line))
                if ShareEntry.isMeant(by: line), entry.nextWord != nil { _ = entry.take(line) }
            }
            if entry.nextWord == nil { _ = entry.finish() }
        },
        FuzzTarget("certificates", [certificate], refusing: { $0 is CertificateFailure }) { bytes in
            _ = try ImportedItems(reading: bytes.span, passphrase: SecretBytes(copying: "pw".utf8))
        },
    ]

    private static let identity = """
        # created: 2026-11-26
        AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX

        """

    private static let deviceKey = """
        # kcbackup device key of KC-IVNO-G6GA-MG3C-X7M7-BDFM
        KCBACKUP-DEVICE-KEY-1LHGFTA6WQ6HENX69KUYCDN07FJMKDRU4CLV76K027P2F4ESSC02QNENDMU
        machine a393b54345c3b70b2538cac4c9c535d4257941db903e527bae2bb78df14b883c

        """

    private static let signature: [UInt8] = {
        do {
            let device = try DeviceKey(secret: SecretBytes(copying: (0..<32).map { UInt8($0) }))
            return try SSHSignature.sign(message: [0x61], with: device)
        } catch {
            fatalError("\(error)")
        }
    }()

    private static let certificate = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
        -----END PUBLIC KEY-----

        """
}
