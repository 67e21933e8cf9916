internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// A list of `otpauth:` addresses, one a line, as Ente Auth and others export it; also Google Authenticator's transfer
/// codes, `otpauth-migration:` addresses with many entries each.
///
/// Source: google/google-authenticator wiki, "Key Uri Format".
package struct OTPAuthFormat: ForeignFormat {
    package let kind = ForeignKind.otpAuth

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { OneTimePasswordLines.recognises($0) }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        var lines = OneTimePasswordLines(collector)
        try file.bytes.withBytes { bytes throws(ForeignFailure) in try lines.read(bytes) }
        try lines.finish()
        return try collector.finish(details: "", isPlaintext: true)
    }
}
