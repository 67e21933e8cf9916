internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The passwords of a profile of Chromium, or of a browser made from it: Chrome, Brave, Edge, Opera, Vivaldi.
package struct ChromiumFormat: ForeignFormat {
    package let kind = ForeignKind.chromium

    /// The databases of a profile: the passwords of the device, and those of the account that is signed in.
    private static let names = ["Login Data", "Login Data For Account"]

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        if let file = input.file { return file.isDatabase(with: ["password_value", "signon_realm"]) }
        let profile = BrowserProfile(input)
        return try Self.names.contains { try profile.isFolder(with: $0) }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let profile = BrowserProfile(input)
        var files: [ForeignFile] = []
        if let file = input.file {
            try profile.requireUnlocked([Path.split(input.path).name], by: "its browser")
            try profile.requireFinished()
            files.append(file)
        } else {
            for name in Self.names {
                guard let file = try profile.file(name) else { continue }
                try profile.requireUnlocked([name], by: "its browser")
                try profile.requireFinished(name)
                files.append(file)
            }
        }
        let date = files.map(\.modified).max() ?? .reference
        let collector = RecordCollector(format: name, date: date)
        let keys = try ChromiumKeys(secrets)
        var logins = ChromiumLogins(keys: keys, collector: collector)
        for file in files { try logins.read(file) }
        if logins.openedCount == 0, logins.lockedCount > 0 { throw ForeignFailure.noBrowserKey }
        return try collector.finish(details: "", isPlaintext: false)
    }
}
