package import KCLocalKeychains
internal import KCReportText

/// Explains a failed keychain lookup.
package func explainLocalKeychain(_ failure: LocalKeychainFailure) -> Explanation {
    switch failure {
    case .emptyName: Explanation(.usage, "the name of the keychain is empty")
    case .invalidName:
        Explanation(
            .usage, "that cannot be the name of a keychain",
            hint: "a name has letters, digits, '.', '_', '-' or spaces, at most 64 bytes, and does not begin with '.' "
                + "or '-'; a path contains '/', as in './work.keychain'")
    case .deviceKeyMissing(let keychains):
        Explanation(
            .refused,
            "the device key is missing, and \(counted(keychains, "keychain")) here can be opened with no other",
            hint: "'kcbackup device import FILE' brings it back, from what 'kcbackup device export' wrote or from the "
                + "'device.key' in a copy of the home folder",
            "without a copy, 'kcbackup device adopt \(OptionName.newKey.spelling)' gives this device a new key, which opens none of them"
        )
    case .listsDamaged(let path):
        Explanation(
            .damaged, "the file with the default keychain and the search list is damaged: \(quoted(path))",
            hint: "name the keychain with '\(OptionName.keychain.spelling)', or remove the file: 'login' is the "
                + "default again then, and all keychains are searched")
    case .borrowedRights:
        Explanation(
            .refused, "the program runs with the rights of another user than the one who started it",
            hint: "do not install it setuid or setgid; 'sudo -H' runs it as another user with that user's files")
    case .file(let failure): explainFile(failure)
    }
}
