package import KCByteStreams
package import KCHomeFiles
package import KCKeychainModel
internal import KCLocalKeychains

extension RestorableHome {
    /// Replaces the content of a file, or removes the file, after keeping its state, which `undo` brings back.
    ///
    /// - Parameters:
    ///   - expected: the content that the file must still have.
    ///   - rest: the new content; nil to remove the file.
    ///   - ending: that of the file by which its programs keep others from it; nil if they have none.
    /// - Throws: `HomeFailure` (`changedMeanwhile`, `notReplaceable`), `StateFailure.notKept`, `FileFailure`, `StreamFailure`; the file is then as it
    ///   was.
    package func rewrite(
        _ path: HomePath, from expected: borrowing SecretBytes, to rest: borrowing SecretBytes?,
        lockedBy ending: String?, now: Timestamp
    ) throws {
        let lockFile = ending.map { "\(home)/\(path.text.string)\($0)" }
        if let lockFile { try PrivateFile.create(lockFile, Span(), anywhere: true) }
        var failure: (any Error)?
        do {
            try replace(path, expected, rest, now)
        } catch {
            failure = error
        }
        if let lockFile { try Path.remove(lockFile) }
        if let failure { throw failure }
    }

    private func replace(
        _ path: HomePath, _ expected: borrowing SecretBytes, _ rest: borrowing SecretBytes?, _ now: Timestamp
    ) throws {
        guard let rule = HomeTable.rule(for: path) else { preconditionFailure("the file is in the table") }
        let home = try WritableHome(self.home)
        let lock = try kept.folder.lock()
        defer { withExtendedLifetime(lock) { home.synchronize() } }
        let entry = try home.entry(at: path, rule)
        if case .inTheWay(let problem) = entry { throw HomeFailure.notReplaceable(path.shown, problem) }
        guard case .file(let file) = entry,
            file.bytes.withBytes({ bytes in expected.withBytes { bytes.isEqual(to: $0) } })
        else { throw HomeFailure.changedMeanwhile(path.shown) }
        let item = HomeItem(path, permissions: file.status.permissions, modified: now)
        let code = try kept.coding()
        let permissions = item.restoredPermissions(rule)
        var newCode: [UInt8]?
        switch rest {
        case .some(let rest): newCode = try code(permissions, rest)
        case .none: newCode = nil
        }
        try kept.keep(before: .import, [path: newCode], in: home) { _ in file.status }
        switch rest {
        case .some(let rest): try home.write(item, rule, rest, replacing: file.status)
        case .none: try home.remove(path, file.status)
        }
        kept.tidy()
    }
}
