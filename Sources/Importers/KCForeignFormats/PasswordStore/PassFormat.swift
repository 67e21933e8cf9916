internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The folder of pass, the standard Unix password manager, and of gopass: one file per password, encrypted by gpg.
package struct PassFormat: ForeignFormat {
    package let kind = ForeignKind.pass

    private static let ending = ".gpg"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard case .folder = input.content else { return false }
        return try Path.kind(of: input.path + "/.gpg-id") == .file
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let folder = try ForeignFolder(input.path)
        let collector = RecordCollector(format: name, date: .reference)
        var opened = 0
        var locked = 0
        for file in folder.files where file.exact.hasSuffix(Self.ending) {
            let path = file.exact.removingSuffix(Self.ending) ?? file
            do {
                let entry = try StoreEntry(path: path, modified: folder.modified(file))
                let content = try secrets.decryptedByGPG(
                    folder.path(of: file), skipping: 0, limit: StoreEntry.sizeLimit)
                opened += 1
                try entry.add(content, to: collector)
            } catch let problem as UnopenedFile {
                if problem == .noKey { locked += 1 }
                collector.refuse(path, problem.problem(of: "no gpg key"))
            } catch let failure as FileFailure {
                collector.refuse(path, try StoreEntry.problem(of: failure))
            }
        }
        if opened == 0, locked > 0 { throw ForeignFailure.noKeyOpens("keys of gpg") }
        folder.countRest(in: collector, ending: Self.ending)
        return try collector.finish(details: "", isPlaintext: false)
    }
}

extension ForeignFolder {
    /// Counts the files that are not passwords.
    func countRest(in collector: RecordCollector, ending: String) {
        collector.leaveOut("file without a password", files.count { !$0.exact.hasSuffix(ending) })
        collector.leaveOut("file of another kind (link, device)", others)
        collector.leaveOut("file whose name is not UTF-8", unreadable)
    }
}
