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
    /// - Throws: `HomeFailure` (`changedMeanwhile`, `notReplaceable`), `StateFailure.notKept`, `FileFailure`,
    ///   `StreamFailure`; the file is then as it was.
    package func rewrite(
        _ path: HomePath, from expected: borrowing SecretBytes, to rest: borrowing SecretBytes?,
        lockedBy ending: String?, now: Timestamp
    ) throws {
        let lock = try kept.folder.lock()
        defer { withExtendedLifetime(lock) {} }
        let lockFile = try ending.map { try LockByName(Self.lock($0, of: path, in: home), mark: Self.lockMark) }
        var failure: (any Error)?
        do {
            try replace(path, expected, rest, now)
        } catch {
            failure = error
        }
        do {
            try lockFile?.release()
        } catch {
            // Why the file was not changed says more; the next run removes the lock.
            failure = failure ?? error
        }
        if let failure { throw failure }
    }

    /// Checks that `rewrite` could keep the state of a file, as far as that can be known without doing it.
    ///
    /// - Throws: `StateFailure.notKept`, `FileFailure`.
    package func requireKeepable() throws { try kept.folder.requireKeepable(true) }

    /// Checks that no other program keeps others from a file of a home.
    ///
    /// - Parameter ending: as for `rewrite`.
    /// - Throws: `FileFailure` (`busy` if one does), `StreamFailure`.
    package static func requireUnlocked(_ path: HomePath, in home: String, by ending: String?) throws {
        guard let ending else { return }
        try LockByName.requireFree(lock(ending, of: path, in: home), mark: lockMark)
    }

    /// True if an import took the records out of a file, and the file is as that left it.
    ///
    /// A lock that a killed run has left is removed then.
    ///
    /// - Parameter ending: as for `rewrite`.
    /// - Throws: `StateFailure`, `FileFailure`, `StreamFailure`.
    package func hasRewritten(_ path: HomePath, lockedBy ending: String?) throws -> Bool {
        guard let newest = try kept.folder.names().first else { return false }
        let state = kept.folder.state(newest)
        guard state.before == .import, let code = try kept.contents(of: state).record.files[path],
            let rule = HomeTable.rule(for: path)
        else { return false }
        switch try WritableHome(home).entry(at: path, rule) {
        case .missing: guard code == nil else { return false }
        case .file(let file): guard try kept.coding()(file.status.permissions, file.bytes) == code else { return false }
        case .inTheWay: return false
        }
        let lock = try kept.folder.lock()
        defer { withExtendedLifetime(lock) {} }
        if let ending { try LockByName.removeIfLeft(Self.lock(ending, of: path, in: home), mark: Self.lockMark) }
        return true
    }

    private static func lock(_ ending: String, of path: HomePath, in home: String) -> String {
        "\(home)/\(path.text.string)\(ending)"
    }

    /// The contents of a lock file, by which a later run knows one that was left by a killed run.
    private static let lockMark = Array("kcbackup\n".utf8)

    private func replace(
        _ path: HomePath, _ expected: borrowing SecretBytes, _ rest: borrowing SecretBytes?, _ now: Timestamp
    ) throws {
        guard let rule = HomeTable.rule(for: path) else { preconditionFailure("the file is in the table") }
        let home = try WritableHome(self.home)
        defer { home.synchronize() }
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
