internal import KCByteStreams
internal import KCCryptography
package import KCItemSources
internal import KCKeychainStore
internal import KCTarArchive

/// All formats, for a reader.
package struct FormatCatalogue: ForeignCatalogue {
    package init() {}

    /// libcrypto and SQLite open files when they are used for the first time; the others are loaded then.
    package func prepare() {
        let nothing: [UInt8] = []
        _ = SHA256.hash(nothing.span)
        LegacyCiphers.prepare()
        DatabaseImage.prepare()
        LibGCrypt.prepare()
        LibYAML.prepare()
        TarLibrary.prepare()
    }

    package func format(of kind: ForeignKind, columns: [ChosenColumn: String]) -> any ForeignFormat {
        kind == .csv && !columns.isEmpty ? CSVFormat(columns: columns) : KnownFormats.format(of: kind)
    }

    package func format(of input: ForeignInput, as chosen: (any ForeignFormat)?) throws -> any ForeignFormat {
        try KnownFormats.format(of: input, as: chosen)
    }

    package func outline(of input: ForeignInput) throws(ForeignFailure) -> KeyringOutline {
        try KeyringOutline(of: input)
    }
}
