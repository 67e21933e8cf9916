package import KCBackupTasks
internal import KCByteStreams
internal import KCReportText

extension EncryptedArchives {
    /// The risk of a keychain without an encrypted archive.
    package static func warning(_ keychain: String) -> String {
        "the key of this device is in its TPM, and no encrypted archive of keychain \(quoted(keychain)) that is younger "
            + "than \(days) days is known here: if the TPM is lost, so is the keychain; 'kcbackup create "
            + "\(OptionName.to.spelling) FOLDER' makes one"
    }
}
