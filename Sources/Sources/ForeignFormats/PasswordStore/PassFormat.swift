internal import ByteStreams
package import ItemSources
internal import KeychainModel

/// The folder of pass, the standard Unix password manager, and of gopass: a file for each password, encrypted by gpg.
package struct PassFormat: ForeignFormat {
    package let name = "pass"
    package let title = "password store of pass"

    private static let ending = ".gpg"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard case .folder = input.content else { return false }
        return try Path.kind(of: input.path + "/.gpg-id") == .file
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let folder = try ForeignFolder(input.path)
        var collector = RecordCollector(format: name, date: .reference)
        for file in folder.files where file.hasSuffix(Self.ending) {
            // A key that is not there is not there for the next file either.
            let content = try secrets.decryptedByGPG(folder.path(of: file), limit: StoreEntry.sizeLimit)
            try StoreEntry(
                path: String(file.dropLast(Self.ending.count)), format: name, modified: folder.modified(file)
            ).add(content, to: &collector)
        }
        folder.countRest(to: &collector, ending: Self.ending)
        return try collector.finish(details: "", isPlaintext: false)
    }
}

extension ForeignFolder {
    /// Counts what is no password.
    func countRest(to collector: inout RecordCollector, ending: String) {
        collector.leaveOut("file that is no password", files.count { !$0.hasSuffix(ending) })
        collector.leaveOut("link or device", others)
        collector.leaveOut("file whose name is not UTF-8", unreadable)
    }
}
