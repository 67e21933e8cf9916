/// The formats that a program reads.
package protocol ForeignCatalogue {
    /// Loads the libraries that the formats use, which later can open no file.
    func prepare()

    /// The format of a kind.
    ///
    /// - Parameter columns: the names of the columns of a table, if the user chose them.
    func format(of kind: ForeignKind, columns: [ChosenColumn: String]) -> any ForeignFormat

    /// The format of an input, which has to be the chosen one if there is one.
    ///
    /// - Throws: `ForeignFailure` if no format fits, `FileFailure`, `StreamFailure`.
    func format(of input: ForeignInput, as chosen: (any ForeignFormat)?) throws -> any ForeignFormat

    /// The data that a keyring file shows without its password.
    ///
    /// - Throws: `ForeignFailure` if it is not a keyring or damaged.
    func outline(of input: ForeignInput) throws(ForeignFailure) -> KeyringOutline
}

/// The meaning that a user can give to a column of a table.
package enum ChosenColumn: String, CaseIterable, Hashable, Sendable {
    case title, url, username, password, notes, totp, folder
}
