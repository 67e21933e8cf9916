internal import KCByteStreams
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension Machine {
    /// Warns of folders of the user in which a killed run may have left a file, and which cannot be swept now.
    func unsweptFolders() throws -> [String] {
        try dataFolder.unsweptFolders().map { folder, list in
            "a killed run may have left a file in \(quoted(folder)), which cannot be removed now: once that folder is there, "
                + "any command removes it; if the folder is gone for good, 'rm \(shellWord(list))'"
        }
    }
}
