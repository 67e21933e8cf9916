internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// Checks that there is the folder of a new file, before a secret is asked for that would be of no use without it.
    func requireFolder(ofKeyFile path: String) throws(FileFailure) {
        try Path.requireFolder(Path.split(machine.resolve(path)).folder, named: Path.split(path).folder)
    }

    /// Creates the file of a key.
    ///
    /// - Throws: `Refusal` if it exists, `FileFailure`.
    func makingKeyFile(_ create: () throws(FileFailure) -> Void) throws {
        do throws(FileFailure) {
            try create()
        } catch {
            throw error.problem == .exists ? Refusal.keyFileExists(error.path) : error as any Error
        }
    }
}
