import Foundation
import KCByteStreams
import KCCryptography
import KCItemSources
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Alters files at random, and reads the results.
///
/// `make test` runs a few rounds, the same ones each time; `make fuzz` runs more, starting with `FUZZ_SEED`.
@Suite("Randomly altered files of other programs")
struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    private static let rounds = environment["FUZZ_ROUNDS"].flatMap { Int($0) } ?? 10

    /// A file to start from.
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var password: String?
        /// Makes the file from the bytes that are altered.
        var file: @Sendable ([UInt8]) -> [UInt8] = { $0 }
        /// The divisor of the number of rounds, for samples whose key derivation is slow.
        var cost = 1
        /// True if its checksums reveal every random change of a secret.
        var isAuthenticated = false

        var testDescription: String { name }

        init(_ name: String, fixture: String, password: String, cost: Int = 1) {
            self.name = name
            bytes = (try? ForeignReading.fixture(fixture)) ?? []
            self.password = password
            self.cost = cost
            // Only passwords in a macOS keychain have no checksum.
            isAuthenticated = !fixture.hasSuffix("keychain-db")
        }

        init(_ name: String, _ text: String) {
            self.name = name
            bytes = Array(text.utf8)
        }

        /// A member of a zip file, which is altered before it is put into the zip file.
        init(_ name: String, member: String, _ text: String, beside others: [(String, String)] = []) {
            self.init(name, text)
            file = { bytes in
                ZipWriter.zip([(member, bytes)] + others.map { ($0.0, Array($0.1.utf8)) })
            }
        }

        init(
            _ name: String, _ bytes: [UInt8], password: String? = nil, cost: Int = 1, isAuthenticated: Bool = false
        ) {
            self.isAuthenticated = isAuthenticated
            self.name = name
            self.bytes = bytes
            self.password = password
            self.cost = cost
        }
    }

    private static let bitwarden =
        #"{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"id":"1","folderId":"f","type":1,"#
        + #""name":"n","notes":"x","favorite":true,"fields":[{"name":"a","value":"b","type":1}],"login":"#
        + #"{"uris":[{"uri":"https://example.com"}],"username":"u","password":"p","totp":"JBSWY3DP"}}]}"#

    /// A wallet without a salt, which would be a second file.
    private static var wallet: WalletWriter {
        var wallet = WalletWriter()
        wallet.form = .standardWithoutSalt
        return wallet
    }

    static let samples = [
        Sample("keyring, version 0", fixture: "oo7/legacy.keyring", password: "test"),
        Sample(
            "macOS keychain, version 0x200", (try? MacKeychainTests.writer().file()) ?? [], password: "correct horse",
            cost: 2),
        Sample("1PUX, whole", ZippedExportTests.onePassword),
        Sample(
            "1PUX", member: "export.data", ZippedExportTests.onePasswordData,
            beside: [("export.attributes", #"{"version":3}"#), ("files/d1__s.pdf", "PDF")]),
        Sample("Proton Pass, whole", ZippedExportTests.proton),
        Sample("Proton Pass", member: "Proton Pass/data.json", ZippedExportTests.protonData),
        Sample(
            "Dashlane", member: "credentials.csv",
            "username,username2,username3,title,password,note,url,category,otpSecret\nada,,,D,p,n,https://d.example,W,\n",
            beside: [("securenotes.csv", "title,note\nN,text\n")]),
        Sample(
            "Dashlane, other tables", member: "ids.csv", "type,name\nx,\"a\"\"b\"\n", beside: [("credentials.csv", "")]),
        Sample("Bitwarden with attachments", member: "data.json", bitwarden, beside: [("attachments/1/a.txt", "A")]),
        Sample(
            "RoboForm", "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\nR,https://r,,a,p,n,/,\"P$,,,pwd,1\",x\n"),
        Sample("connection of NetworkManager", NetworkManagerTests.wifi),
        Sample("Password Safe", fixture: PasswordSafeTests.fixture, password: "pw one", cost: 2),
        Sample("1PIF", OldOnePasswordTests.pif),
        Sample("output of security", KeychainDumpTests.whole),
        Sample("KWalletManager's export", KWalletExportTests.export),
        Sample("Keeper", KeeperEnpassTests.keeper),
        Sample("Enpass", KeeperEnpassTests.enpass),
        Sample("Kubernetes", KubernetesSample.list),
        Sample("Kubernetes, YAML", KubernetesSample.yaml),
        Sample("Keeper, table", RaggedTableTests.keeper),
        Sample("Enpass, table", RaggedTableTests.enpass),
        Sample("Zoho Vault", RaggedTableTests.zoho),
        Sample("Dashlane, networks", "ssid,passphrase,name,note,hidden\nhome,pw,,n,false\n"),
        Sample("table with semicolons", "sep=;\r\nname;url;username;password\r\na;;b;\"c\"\r\n"),
        Sample("keyring, version 1", fixture: "oo7/default.keyring", password: "test", cost: 8),
        Sample("wallet", (try? wallet.file()) ?? [], password: wallet.password, isAuthenticated: true),
        Sample(
            "macOS keychain", fixture: "keychainbreaker/test.keychain-db", password: "keychainbreaker-test", cost: 2),
        Sample("KeePass XML", KDBXForge.xml(KDBXForge.entry(1, [("Title", "A"), ("Password", "p"), ("Notes", "n")]))),
        Sample("KDBX 3.1", fixture: "KeePass/keepassxc-3.1.kdbx", password: "pw one", cost: 20),
        Sample(
            "keyring in plain text",
            """
            [keyring]
            display-name=plain
            ctime=1700000000
            mtime=1700000000
            lock-on-idle=false
            lock-after=false

            [1]
            item-type=0
            display-name=one
            secret=two
            lines
            mtime=1700000001
            ctime=1700000000

            [1:attribute0]
            name=user
            type=string
            value=ada

            """),
        Sample("netrc", "machine example.com login ada password \"p q\"\ndefault login a password b\nmacdef m\nx\n\n"),
        Sample("git credentials", "https://ada:p%40ss@example.com%3a8443/r.git\nhttp://b:c@d\n"),
        Sample("table", "name,url,username,password,note\n\"a, b\",https://example.com/x,ada,\"p\"\"w\",n\n"),
        Sample("Bitwarden", bitwarden),
        Sample(
            "CXF",
            #"{"version":{"major":1,"minor":0},"exporterRpId":"a","exporterDisplayName":"A","timestamp":1,"accounts":"#
                + #"[{"id":"YQ","username":"u","email":"e","collections":[],"items":[{"id":"Yg","title":"t","#
                + #""credentials":[{"type":"basic-auth","username":{"fieldType":"string","value":"u"},"password":"#
                + #"{"fieldType":"concealed-string","value":"p"}},{"type":"note","content":{"fieldType":"string","#
                + #""value":"n"}}]}]}]}"#),
        Sample("addresses of one-time passwords", AuthenticatorSamples.addresses),
        Sample("Aegis", AuthenticatorSamples.aegis),
        Sample("2FAS", AuthenticatorSamples.twoFAS),
        Sample("andOTP", AuthenticatorSamples.andOTP),
        Sample("FreeOTP+", AuthenticatorSamples.freeOTPPlus),
        Sample("Stratum", AuthenticatorSamples.stratum),
        Sample("Proton Authenticator", AuthenticatorSamples.proton),
        Sample("2FAuth", AuthenticatorSamples.twoFAuth),
        Sample("FreeOTP", AuthenticatorSamples.freeOTP),
        Sample(
            "Proton Authenticator, encrypted", fixture: "Authenticators/proton-authenticator.json", password: "pw one",
            cost: 20),
        Sample("Aegis, encrypted", fixture: "Authenticators/aegis.json", password: "pw one", cost: 4),
        Sample("2FAS, encrypted", fixture: "Authenticators/backup.2fas", password: "pw one", cost: 4),
        Sample("Stratum, encrypted", fixture: "Authenticators/stratum.authpro", password: "pw one", cost: 20),
        Sample(
            "Stratum, encrypted by old versions",
            (try? ForeignReading.fixture("Authenticators/legacy.authpro")) ?? [], password: "pw one", cost: 4),
        Sample("Ente Auth, encrypted", fixture: "Authenticators/ente.txt", password: "pw one", cost: 20),
        Sample(
            "items", #"{"class":"genp","attributes":{"svce":"a","acct":"b"},"extra":{"c":"d"},"secret":"e"}"# + "\n"),
    ]

    @Test("A randomly altered file is read or refused, by its own format and any other", arguments: samples)
    func changed(sample: Sample) throws {
        try #require(!sample.bytes.isEmpty)
        let original = try KnownFormats.recognise(ForeignReading.input(sample.file(sample.bytes)))
        let secrets = try Self.secrets(of: sample, as: original)
        var random = SeededRandom(seed: Self.seed)
        let proof = ProofCount("\(sample.name), changed at random", seed: Self.seed)
        for round in 0..<max(1, Self.rounds / sample.cost) {
            let bytes = sample.file(Self.changed(sample.bytes, &random))
            let place = "round \(round) of seed \(Self.seed)"
            proof.add(Self.attempt(bytes, as: original, sample.password, secrets, place) ? 0 : 1)
        }
        try proof.record()
    }

    @Test(
        "A file truncated at, or altered in, any of its bytes is read or refused",
        arguments: samples.filter { $0.cost == 1 && $0.bytes.count < 4_000 })
    func everyByte(sample: Sample) throws {
        let original = try KnownFormats.recognise(ForeignReading.input(sample.file(sample.bytes)))
        let secrets = try Self.secrets(of: sample, as: original)
        // `make test` takes some eight.
        let step = Self.environment["FUZZ_ROUNDS"] == nil ? max(1, sample.bytes.count / 8) : 1
        let proof = ProofCount("\(sample.name), truncated at and altered in every byte")
        for index in stride(from: sample.bytes.count % step, to: sample.bytes.count, by: step) {
            var changed = [sample.bytes, sample.bytes]
            changed[0].removeSubrange(index...)
            changed[1][index] ^= 1 << UInt8(index % 8)
            for bytes in changed {
                let isRight = Self.attempt(
                    sample.file(bytes), as: original, sample.password, secrets, "byte \(index)")
                proof.add(isRight ? 0 : 1)
            }
        }
        try proof.record()
    }

    /// The secrets of an authenticated sample; nil for another one.
    private static func secrets(of sample: Sample, as format: any ForeignFormat) throws -> Set<[UInt8]>? {
        guard sample.isAuthenticated else { return nil }
        let contents = try ForeignReading.read(sample.file(sample.bytes), as: format, password: sample.password)
        let secrets = Set(try contents.entries.compactMap(\.secret))
        #expect(!secrets.isEmpty)
        return secrets
    }

    /// Reads a file in its original format, and in the format that it is now recognized as.
    ///
    /// - Parameter secrets: the only secrets that it may have in its original format; nil for any.
    /// - Returns: false if it broke a rule.
    private static func attempt(
        _ bytes: [UInt8], as original: any ForeignFormat, _ password: String?, _ secrets: Set<[UInt8]>?,
        _ place: String
    ) -> Bool {
        var isRight = true
        let isReadOrRefused = refusing(place) {
            let entries = try ForeignReading.read(bytes, as: original, password: password).entries
            guard let secrets else { return }
            for (item, secret) in entries {
                let isKnown = secret.map { secrets.contains($0) } ?? true
                #expect(isKnown, "\(place): a wrong secret of \(item)")
                if !isKnown { isRight = false }
            }
        }
        let isRecognized = refusing(place) {
            let format = try KnownFormats.recognise(ForeignReading.input(bytes))
            if format.name == original.name { return }
            _ = try ForeignReading.read(bytes, as: format, password: password).listing
        }
        return isRight && isReadOrRefused && isRecognized
    }

    /// Records every error other than those that readers may throw, and returns false for it.
    @discardableResult
    private static func refusing(_ place: String, _ body: () throws -> Void) -> Bool {
        do {
            try body()
        } catch is ForeignFailure {
        } catch is ItemLines.Failure {
        } catch is CryptographyFailure {
        } catch is GivenSecrets.Unexpected {
        } catch {
            Issue.record("\(place): \(error)")
            return false
        }
        return true
    }

    @Test("A password store file with any contents is read or refused")
    func passwordStore() throws {
        /// Returns every file unchanged, as if gpg had decrypted it.
        struct Opener: ForeignSecrets {
            func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {}

            func keyFile() throws -> ForeignFile? { nil }

            func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
                try ForeignFile(reading: OpenFile.reading(path)).bytes.copy()
            }
        }
        let folder = try TemporaryFolder(inMemory: true)
        try folder.write(".gpg-id", [])
        let text = Array(
            "p\u{e9}\nuser: ada\ntext\nURL: https://a.example/x\notpauth://totp/x?secret=A\n more\r\n".utf8)
        var random = SeededRandom(seed: Self.seed)
        for round in 0..<Self.rounds {
            try folder.write("a.example.gpg", Self.changed(text, &random))
            Self.refusing("round \(round) of seed \(Self.seed)") {
                _ = try PassFormat().read(ForeignInput(path: folder.path, .folder), Opener()).listing
            }
        }
    }

    @Test(
        "A device backup with any decrypted contents is read or refused", arguments: BackupForge.Part.allCases)
    func backup(part: BackupForge.Part) throws {
        var random = SeededRandom(seed: Self.seed)
        var forge = BackupForge(entries: AppleBackupTests.entries)
        for round in 0..<max(1, Self.rounds / 8) {
            let seed = random.next()
            forge.alter = { altered, bytes in
                var random = SeededRandom(seed: seed)
                return altered == part ? Self.changed(bytes, &random) : bytes
            }
            let folder = try TemporaryFolder(inMemory: true)
            try forge.write(to: folder)
            Self.refusing("round \(round) of seed \(Self.seed)") {
                let input = ForeignInput(path: folder.path(""), .folder)
                guard try AppleBackupFormat().recognises(input) else { return }
                _ = try AppleBackupFormat().read(input, GivenSecrets(text: forge.password)).listing
            }
        }
    }

    /// Makes one to five changes: a byte, a bit, a boundary value, or a piece removed, duplicated or moved.
    private static func changed(_ original: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = original
        for _ in 0...Int.random(in: 0..<5, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, index + Int.random(in: 1...16, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2:
                let number =
                    [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff].randomElement(using: &random) ?? 0
                for place in index..<min(bytes.count, index + 4) {
                    bytes[place] = UInt8(truncatingIfNeeded: number >> (8 * (place - index)))
                }
            case 3: bytes.removeSubrange(index..<end)
            case 4: bytes.insert(contentsOf: bytes[index..<end], at: index)
            case 5: bytes.removeSubrange(index...)
            default:
                let piece = Array(bytes[index..<end])
                bytes.removeSubrange(index..<end)
                bytes.insert(contentsOf: piece, at: Int.random(in: 0...bytes.count, using: &random))
            }
        }
        return bytes
    }
}
