internal import KCBackupTasks
internal import KCByteStreams
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// The names of the keychains whose passcodes a TPM counts; others that cannot be opened are warned of.
    func countedKeychains() throws -> [String] {
        let counted = try CountedKeychains(in: machine)
        for failure in counted.failures { warn(self.failure(of: failure).explanation.message) }
        return counted.names
    }

    /// Warnings of keychains of the data folder that are copies of one file.
    func copyWarnings() throws -> [String] {
        let copies = try machine.copiedKeychains().map { $0.map(quoted).joined(separator: ", ") }
        return copies.sorted().map { names in
            "keychains \(names) are copies of one file, and only their names tell their backups apart: "
                + "'kcbackup restore' of an archive into a new keychain makes one of its own"
        }
    }
}

extension Machine {
    /// Warns of folders of the user in which a killed run may have left a file, and which cannot be swept now.
    func unsweptFolders() throws -> [String] {
        try dataFolder.unsweptFolders().map { folder, list in
            "a killed run may have left a file in \(quoted(folder)), which cannot be removed now: once that folder is there, "
                + "any command removes it; if the folder is gone for good, 'rm \(shellWord(list))'"
        }
    }
}
