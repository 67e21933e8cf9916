internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// A picture of QR codes with one-time passwords, as a screenshot of an authenticator or of a service; `zbarimg` reads it.
package struct QRPictureFormat: ForeignFormat {
    package let kind = ForeignKind.qrPicture

    /// The maximum size of a picture in bytes: many times that of a photo.
    private static let sizeLimit = 64 << 20
    /// The maximum size of the text of its codes in bytes; one code has at most 3 KB.
    private static let textLimit = 1 << 20

    /// The kind under which codes that are not of an authenticator are counted.
    private static let other = "QR code of another kind"

    /// How PNG and JPEG files begin.
    private static let beginnings: [[UInt8]] = [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], [0xff, 0xd8, 0xff]]

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        Self.beginnings.contains { input.file?.starts(with: $0) == true }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        guard input.path.exact != InputFile.standardInputName.exact else {
            throw ForeignFailure.refused(
                title: "a picture from a pipe", hint: "give the path of the picture: another program opens it")
        }
        guard file.bytes.count <= Self.sizeLimit else {
            throw ForeignFailure.limit("bytes", found: UInt64(file.bytes.count), allowed: UInt64(Self.sizeLimit))
        }
        let text = try secrets.textOfQRCodes(in: input.path, limit: Self.textLimit)
        let collector = RecordCollector(format: name, date: file.modified)
        var lines = OneTimePasswordLines(collector, others: .counted(Self.other))
        try text.withBytes { bytes throws(ForeignFailure) in try lines.read(bytes) }
        try lines.finish()
        let contents = try collector.finish(details: "", isPlaintext: true)
        if contents.items.count == 0, contents.refused.isEmpty, contents.leftOut.allSatisfy({ $0.kind == Self.other }) {
            throw ForeignFailure.damaged("none of its QR codes is of an authenticator")
        }
        return contents
    }
}
