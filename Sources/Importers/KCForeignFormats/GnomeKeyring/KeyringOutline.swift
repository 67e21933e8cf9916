package import KCItemSources

extension KeyringOutline {
    /// Reads what can be read of a file without its password.
    ///
    /// - Throws: `ForeignFailure` if it is not a keyring or damaged.
    package init(of input: ForeignInput) throws(ForeignFailure) {
        guard let file = input.file, GnomeKeyringFormat.begins(file) else {
            throw input.file?.isBlank == true ? .empty : .damaged("it does not begin like a keyring")
        }
        let kind = try GnomeKeyringFormat.Kind(file)
        let (label, count): (String, Int) =
            switch kind {
            case .text: try KeyringText.outline(of: file)
            case .encrypted: try EncryptedKeyring.outline(of: file)
            case .libsecret:
                (KeyringFile(file, in: input.realFolder).labelOfName, try LibsecretKeyring.itemCount(of: file))
            }
        self.init(label: label, itemCount: count, isOfOO7: kind == .libsecret)
    }
}
