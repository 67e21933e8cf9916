import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCItemSources
import KCKeychainModel
import KCTestSupport

@testable import KCBackupCatalogue
@testable import KCBackupJobs
@testable import KCForeignFormats
@testable import KCKeychainStore

/// Reads everything.
private struct Everything: ItemVisitor {
    mutating func wants(_ item: Item) -> Bool { true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {}

    mutating func skip(damaged item: Item?) {}
}

/// A password for every file, and no key file.
private struct OnePassword: ForeignSecrets {
    let password: String
    var isPasswordGiven: Bool { true }

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        try use(SecretBytes(copying: password.utf8))
    }

    func keyFile() throws -> ForeignFile? { nil }
}

extension FuzzTarget {
    /// Calls `use` with the path of a file of its own that holds `bytes`: tests of one target run at the same time.
    private static func withFile(_ name: String, _ bytes: [UInt8], _ use: (_ path: String) throws -> Void) throws {
        let folder = try TemporaryFolder(inMemory: true)
        try withExtendedLifetime(folder) { try use(folder.write(name, bytes)) }
    }

    /// The files that kcbackup keeps.
    static let stores = [
        FuzzTarget(
            "keychain-file", bytes: [file("KCKeychainStoreTests/Keychains/v1-none.keychain")],
            refusing: { $0 is KeychainStoreError }
        ) { bytes in
            try withFile("login.keychain", bytes) { path in
                let device = try DeviceKey(secret: SecretBytes(copying: (0..<32).map { UInt8($0) }))
                let keychain = try Keychain.open(at: path, deviceKey: device, lockWait: .zero)
                var visitor = Everything()
                try keychain.visitItems(&visitor)
                try keychain.checkIntegrity()
            }
        },
        FuzzTarget("journal", [String(repeating: "\0", count: 600)], refusing: { $0 is KeychainStoreError }) { bytes in
            try withFile("journal", bytes) { _ = try JournalCheck.isHarmless($0) }
        },
        FuzzTarget("catalogue", [catalogue], refusing: { $0 is MalformedLine }) { bytes in
            let read = try Catalogue(parsing: bytes.span)
            try require(read.spelling == bytes, "a catalogue is spelled in one way")
        },
        FuzzTarget("job", ["create --keychain\nfolder /x\nplace /y\ntime 02:00\nkeep 3\n"]) { bytes in
            guard let fields = StateFields(parsing: bytes) else { return }
            _ = Job(name: "nightly", fields)
            _ = RunRecord(fields)
            _ = ReceiptRecord(fields)
            _ = CopyRecord.records(fields)
        },
    ]

    /// Files of other programs, by any format that recognizes them.
    static let foreign = [
        FuzzTarget(
            "csv", ["name,url,username,password,note\n\"a, b\",https://example.com/x,ada,\"p\"\"w\",n\n"],
            by: CSVFormat()),
        FuzzTarget("netrc", ["machine a login b password \"p q\"\ndefault login a password b\n"], by: NetrcFormat()),
        FuzzTarget(
            "networkmanager", ["[connection]\nid=a\nuuid=1\ntype=vpn\n[vpn-secrets]\npassword=\\sb\n"],
            by: NetworkManagerFormat()),
        FuzzTarget("git-credentials", ["https://ada:p%40ss@example.com%3a8443/r.git\n"], by: GitCredentialsFormat()),
        FuzzTarget("bitwarden", [bitwarden], by: BitwardenFormat()),
        FuzzTarget(
            "gnome-keyring", bytes: [file("KCForeignFormatsTests/Fixtures/oo7/legacy.keyring")],
            by: GnomeKeyringFormat()),
        FuzzTarget(
            "kych", bytes: [file("KCForeignFormatsTests/Fixtures/keychainbreaker/test.keychain-db")],
            by: MacKeychainFormat(), password: "keychainbreaker-test"),
        FuzzTarget(
            "psafe3", bytes: [file("KCForeignFormatsTests/Fixtures/PasswordSafe/loxodo.psafe3")],
            by: PasswordSafeFormat(), password: "pw one"),
        FuzzTarget(
            "keepass-xml", bytes: [file("KCForeignFormatsTests/Fixtures/KeePass/keepassxc.xml")], by: KeePassXMLFormat()
        ),
        FuzzTarget("kubernetes", [secret], by: KubernetesFormat()),
        FuzzTarget(
            "kubernetes-yaml",
            [
                "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {b: c}}\nstringData:\n  k: &x |\n    two\n    lines\n"
                    + "  l: *x\n---\napiVersion: v1\nkind: ConfigMap\n"
            ], by: KubernetesFormat()),
        FuzzTarget(
            "property-list", ["<plist version=\"1.0\"><dict><key>a</key><data>YQ==</data></dict></plist>"],
            refusing: { $0 is ForeignFailure }
        ) { bytes in
            _ = try PropertyList(bytes.span)
        },
        FuzzTarget("property-list-der", ["0\u{6}\u{c}\u{1}a\u{1}\u{1}\u{1}"], refusing: { $0 is ForeignFailure }) {
            bytes in
            _ = try PropertyList(der: bytes.span)
        },
    ]

    private init(_ name: String, _ seeds: [String], by format: any ForeignFormat) {
        self.init(name, bytes: seeds.map { Array($0.utf8) }, by: format)
    }

    private init(
        _ name: String, bytes seeds: [[UInt8]], by format: any ForeignFormat, password: String = "test"
    ) {
        self.init(name, bytes: seeds, refusing: { $0 is ForeignFailure || $0 is CryptographyFailure }) { bytes in
            let file = ForeignFile(name: name, SecretBytes(copying: bytes), modified: .reference)
            var visitor = Everything()
            try format.read(ForeignInput(path: "-", .file(file)), OnePassword(password: password)).items
                .visitItems(&visitor)
        }
    }

    private static let bitwarden =
        #"{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"id":"1","folderId":"f","type":1,"#
        + #""name":"n","notes":"x","favorite":true,"fields":[{"name":"a","value":"b","type":1}],"login":"#
        + #"{"uris":[{"uri":"https://example.com"}],"username":"u","password":"p","totp":"JBSWY3DP"}}]}"#

    private static let secret =
        #"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","#
        + #""namespace":"n","labels":{"b":"c"},"annotations":{"d":"e"}},"type":"Opaque","data":{"k":"dg=="}}]}"#

    private static let catalogue = #"{"folder":"/x","pin":null}"# + "\n"
}
