internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// OPVault, the folder in which 1Password 4 to 7 keep a vault.
///
/// Source: AgileBits, "OPVault design".
package struct OPVaultFormat: ForeignFormat {
    package let kind = ForeignKind.opVault

    /// The folder of the only profile that 1Password makes.
    private static let profile = "default/"
    private static let attachmentEnding = ".attachment"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard case .folder = input.content else { return false }
        return try Path.kind(of: input.path + "/default/profile.js") == .file
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard try recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let folder = try ForeignFolder(input.path)
        let file = try folder.read(Self.profile + "profile.js")
        let profile = try Self.document(file, after: "var profile=")
        let seal = try OPVaultSeal(profile)
        var opened: OPVaultSeal.Keys?
        try secrets.password(.file(.opVault)) { opened = try seal.open($0) }
        guard let keys = opened else { throw ForeignFailure.wrongPasswordOrDamaged }
        let collector = RecordCollector(format: name, date: file.modified)
        var reader = OPVaultReader(collector: collector, keys: keys)
        var taken = 1
        if folder.files.contains(where: { $0.exact == (Self.profile + "folders.js").exact }) {
            taken += 1
            try reader.note(folders: Self.document(folder.read(Self.profile + "folders.js"), after: "loadFolders("))
        }
        var attachments: [ExactText: [String]] = [:]
        for path in folder.files where path.exact.hasSuffix(Self.attachmentEnding) {
            // The ID of its record comes first, then its own.
            guard let name = path.exact.removingPrefix(Self.profile), let id = name.exact.split(separator: "_").first
            else { continue }
            attachments[id.exact, default: []].append(path)
        }
        for path in folder.files where Self.isBand(path) {
            taken += 1
            let band = try Self.document(folder.read(path), after: "ld(")
            guard band.root.isObject else { throw ForeignFailure.damaged("a band of it is not an object") }
            for item in band.root.members {
                taken += try reader.add(item, of: band, attachments[item.name.exact] ?? []) { try folder.read($0) }
            }
        }
        collector.leaveOut("file of no imported record", folder.files.count - taken)
        return try collector.finish(details: "", isPlaintext: false)
    }

    /// True for the files with records, of which each has those whose IDs begin with its digit.
    private static func isBand(_ path: String) -> Bool {
        guard let name = path.exact.removingPrefix(profile + "band_")?.exact.removingSuffix(".js") else { return false }
        return name.utf8.count == 1
    }

    /// The JSON in a script, which is all of it but what a browser needs to load it.
    private static func document(_ file: ForeignFile, after beginning: String) throws(ForeignFailure) -> ForeignJSON {
        let range = file.bytes.withBytes { bytes -> Range<Int>? in
            guard bytes.starts(with: beginning) else { return nil }
            let last = bytes.indices.last { ![0x20, 0x09, 0x0a, 0x0d, 0x28, 0x29, 0x3b].contains(bytes[$0]) }
            return last.map { beginning.utf8.count..<max(beginning.utf8.count, $0 + 1) }
        }
        guard let range else { throw .damaged("a file of it does not begin like one of a vault") }
        return try ForeignJSON(file.bytes.withBytes { SecretBytes($0.extracting(range)) })
    }
}
