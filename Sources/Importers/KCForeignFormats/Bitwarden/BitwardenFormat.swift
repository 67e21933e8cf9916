internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Bitwarden's and Vaultwarden's JSON exports, plain or protected with a password.
///
/// Source: bitwarden/clients, `libs/tools/export/vault-export`, and Bitwarden's security whitepaper.
package struct BitwardenFormat: ForeignFormat {
    package let kind = ForeignKind.bitwarden

    /// The name of the document in an export with attachments, which is a zip file.
    private static let member = "data.json"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        if let names = try ForeignZip.names(in: input) { return names.contains(Self.member.exact) }
        return file.bytes.withBytes { Self.recognises($0) }
    }

    /// True if `bytes` begin like a Bitwarden document.
    static func recognises(_ bytes: borrowing Span<UInt8>) -> Bool {
        let lists = ["items", "folders", "collections"]
        // Exports of Proton Pass and Enpass have lists with these names too.
        let others = ["vaults", "template_type", "parent_uuid"]
        let names = JSONHead.names(["passwordProtected", "encrypted"] + lists + others, in: bytes)
        guard names.isDisjoint(with: others.map(\.exact)) else { return false }
        if names.contains("passwordProtected".exact) { return true }
        if names.contains("encrypted".exact) { return !names.isDisjoint(with: lists.map(\.exact)) }
        return names.isSuperset(of: ["folders", "items"])
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        var zip: ForeignZip?
        var json: ForeignJSON
        if try ForeignZip.names(in: input) != nil {
            let opened = try ForeignZip(file) { $0 == Self.member || $0.exact.hasPrefix("attachments/") }
            json = try opened.json(Self.member)
            zip = opened
        } else {
            json = try ForeignJSON(file)
        }
        let isEncrypted = json.flag(json.root["encrypted"]) == true
        if isEncrypted {
            guard json.flag(json.root["passwordProtected"]) == true else {
                throw ForeignFailure.refused(
                    title: "a Bitwarden export that only its account opens",
                    hint: "export it again as '.json (Encrypted)', with the type 'Password protected'")
            }
            json = try BitwardenSeal(json).open(secrets)
        }
        let collector = RecordCollector(format: name, date: file.modified)
        try BitwardenVault(json, zip, collector).add()
        zip?.countRest(in: collector)
        let isOfOrganization = json.root["collections"] != nil
        return try collector.finish(
            details: (isOfOrganization ? "of an organization" : "of a vault") + (isEncrypted ? ", encrypted" : ""),
            isPlaintext: !isEncrypted)
    }
}
