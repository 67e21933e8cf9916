internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The databases of Password Safe 3 (`*.psafe3`), and of the programs that read them.
///
/// Source: Password Safe, `docs/formatV3.txt`.
package struct PasswordSafeFormat: ForeignFormat {
    package let kind = ForeignKind.passwordSafe

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.starts(with: PasswordSafeSeal.magic.utf8) == true
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let seal = try file.bytes.withBytes { bytes throws(ForeignFailure) in try PasswordSafeSeal(bytes) }
        var opened: PasswordSafeSeal.Opened?
        try secrets.password(.file(.passwordSafe)) { password in
            opened = try file.bytes.withBytes { try seal.open($0, password) }
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        let collector = RecordCollector(format: name, date: file.modified)
        var reader = PasswordSafeReader(opened, collector)
        try reader.read()
        return try collector.finish(details: "", isPlaintext: false)
    }
}
