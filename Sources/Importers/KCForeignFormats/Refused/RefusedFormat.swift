internal import KCByteStreams
package import KCItemSources

/// A known kind of file that is not supported, with a way that does work.
package struct RefusedFormat: Sendable {
    package let name: String
    /// Why a file of this kind is not read, with the way that works.
    package let failure: ForeignFailure
    private let test: @Sendable (ForeignInput) throws -> Bool

    /// True if an input is of this kind.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func recognises(_ input: ForeignInput) throws -> Bool { try test(input) }

    private init(
        name: String, failure: ForeignFailure, test: @escaping @Sendable (ForeignInput) throws -> Bool
    ) {
        self.name = name
        self.failure = failure
        self.test = test
    }

    /// - Parameter hint: what to do instead, with other programs; messages replace `FILE` by the path.
    private init(
        name: String, title: String, hint: String, test: @escaping @Sendable (ForeignInput) throws -> Bool
    ) {
        self.init(name: name, failure: .refused(title: title, hint: hint), test: test)
    }

    private init(name: String, own file: OwnFile, test: @escaping @Sendable (ForeignInput) throws -> Bool) {
        self.init(name: name, failure: .own(file), test: test)
    }

    /// The name of text in UTF-16 other than JSON.
    static let utf16Name = "text-utf-16"

    /// All refused formats.
    package static let all: [RefusedFormat] = [
        RefusedFormat(name: "kcbackup-archive", own: .archive) {
            $0.file?.starts(with: "kcbackup.json\0".utf8) == true
        },
        RefusedFormat(name: "kcbackup-keychain", own: .keychain) {
            $0.file?.isDatabase(with: ["genp", "inet"], applicationID: "kcbk") == true
        },
        RefusedFormat(
            name: "keychain-2", title: "the keychain-2.db of macOS or iOS, whose keys are in the Secure Enclave",
            hint: "on the Mac, export the passwords from the Passwords app (File, Export) as CSV"
        ) { $0.file?.isDatabase(with: ["genp", "inet"]) == true },
        RefusedFormat(
            name: "mozilla-profiles", title: "a folder of profiles of Firefox or Thunderbird",
            hint: "import one of the profiles in it: 'about:profiles' or profiles.ini name them"
        ) { try $0.hasMember("profiles.ini") },
        RefusedFormat(
            name: "chromium-profiles", title: "a folder of profiles of Chrome, Chromium or a browser like them",
            hint: "import one of the profiles in it, such as FILE/Default"
        ) { try $0.hasMember("Local State") },
        RefusedFormat(
            name: "agilekeychain", title: "an agilekeychain of 1Password",
            hint: "1Password 4 to 7 open it, and export it as 1PIF, which is read"
        ) { try $0.hasMember("data/default/encryptionKeys.js") },
        RefusedFormat(
            name: "freeotp-backup", title: "a backup of FreeOTP 2",
            hint: "Aegis reads it (Settings, Import & Export, FreeOTP); import what Aegis exports"
        ) { input in
            // Objects as Java writes them: a map of texts.
            input.file?.starts(with: [0xac, 0xed, 0, 5]) == true
                && input.file?.bytes.withBytes { $0.extracting(..<min($0.count, 256)).holds("java.util.HashMap") }
                    == true
        },
        RefusedFormat(
            name: "freeotp-store", title: "the settings of FreeOTP 2, whose tokens only the phone opens",
            hint: "in FreeOTP, make a backup; Aegis reads it, and its export is read"
        ) { input in
            input.file?.bytes.withBytes { bytes in
                bytes.hasRoot("map") && bytes.holds("\"masterKey\"")
            } == true
        },
        RefusedFormat(
            name: "cxp", title: "an encrypted archive of the Credential Exchange Protocol",
            hint: "export a file of another kind, such as CSV or CXF"
        ) { try ForeignZip.names(in: $0)?.contains { $0.string.exact.hasSuffix(".jwe") } == true },
        RefusedFormat(
            name: "lastpass-authenticator", title: "an export of LastPass Authenticator",
            hint: "Aegis and Ente Auth read it; import what they export"
        ) { $0.isJSON(["deviceId", "accounts", "issuerName", "originalIssuerName"]) },
        RefusedFormat(
            name: "systemd-credential", title: "a systemd credential, which is bound to its machine",
            hint: "'systemd-creds decrypt' shows it there"
        ) { input in
            // The beginnings of the IDs of its three kinds of key, in base64.
            ["Whxqht+dQJax1aZeCGLxmg", "DHzAexF2RZGcSwvqCLwg/", "k6iUCUh0RJCQyvL8k8q1U"].contains { id in
                input.file?.starts(with: id.utf8) == true
            }
        },
        RefusedFormat(
            name: "openpgp", title: "a file encrypted with OpenPGP",
            hint: "'gpg -d FILE > FILE.zip' decrypts it; import that, and delete it"
        ) { $0.file?.starts(with: "-----BEGIN PGP MESSAGE-----".utf8) == true },
        RefusedFormat(
            name: "json-utf-16", title: "a JSON file in UTF-16",
            hint: "'iconv -f UTF-16 -t UTF-8 FILE | kcbackup import -' imports it"
        ) { $0.isJSONInUTF16 },
        RefusedFormat(
            name: utf16Name, title: "a text file in UTF-16",
            hint: "'iconv -f UTF-16 -t UTF-8 FILE | kcbackup import -' imports it, if its format is known"
        ) { $0.isTextInUTF16 },
        RefusedFormat(name: "kcbackup-device-key", own: .deviceKey) { input in
            // Its content is encrypted; without the name it may be anything.
            let isNamed = input.file?.name.exact.hasPrefix("device-key") == true && input.isAge
            return isNamed || input.file?.starts(with: "# kcbackup device key of ".utf8) == true
        },
        RefusedFormat(name: "age-passphrase", failure: .age(hasPassphrase: true)) {
            $0.isAge && $0.file?.starts(with: "age-encryption.org/v1\n-> scrypt ".utf8) == true
        },
        RefusedFormat(name: "age", failure: .age(hasPassphrase: false)) { $0.isAge },
    ]
}

extension ForeignInput {
    /// True for a binary age file.
    fileprivate var isAge: Bool { file?.starts(with: "age-encryption.org/v1\n".utf8) == true }

    /// True for an object or a list of JSON behind a byte order mark of UTF-16.
    fileprivate var isJSONInUTF16: Bool {
        let beginnings: [[UInt8]] = [
            [0xff, 0xfe, 0x7b, 0], [0xff, 0xfe, 0x5b, 0], [0xfe, 0xff, 0, 0x7b], [0xfe, 0xff, 0, 0x5b],
        ]
        return beginnings.contains { file?.starts(with: $0) == true }
    }

    /// True for other text behind a byte order mark of UTF-16, which is read in tables alone.
    fileprivate var isTextInUTF16: Bool {
        guard let file, !CSVFormat.isNamedTable(file) else { return false }
        let isText = file.bytes.withBytes { bytes in
            guard bytes.matches([0xff, 0xfe]) || bytes.matches([0xfe, 0xff]), bytes.count > 3 else { return false }
            let end = min(bytes.count & ~1, 1_024)
            // Text has no zero characters, as UTF-32 and most binary files have.
            return stride(from: 2, to: end, by: 2).allSatisfy { bytes[$0] != 0 || bytes[$0 + 1] != 0 }
        }
        return isText && !CSVFormat.isTable(self)
    }

    /// True for a JSON object that has members of these names near its beginning.
    fileprivate func isJSON(_ names: [String]) -> Bool {
        guard let file else { return false }
        return file.bytes.withBytes { JSONHead.names(names, in: $0).count == names.count }
    }

    /// True for a folder that contains this file.
    fileprivate func hasMember(_ name: String) throws -> Bool {
        guard case .folder = content else { return false }
        return try Path.exists(path + "/" + name)
    }
}
