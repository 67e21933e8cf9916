package import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension EncryptedArchives {
    /// The warnings if the key of this device is in its chip.
    package static func warnings(in session: Session) throws -> [String] {
        let machine = session.machine
        return try machine.isHeldByChip ? lacking(on: machine, at: session.now).map(warning) : []
    }

    /// The risk of a keychain without an encrypted archive.
    package static func warning(_ keychain: String) -> String {
        "the key of this device is in its TPM, and no encrypted archive of keychain \(quoted(keychain)) that is younger "
            + "than \(days) days is known here: if the TPM is lost, so is the keychain; 'kcbackup create "
            + "\(OptionName.to.spelling) FOLDER' makes one"
    }
}
