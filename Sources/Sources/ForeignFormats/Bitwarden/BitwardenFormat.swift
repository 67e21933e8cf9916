internal import ByteStreams
package import ItemSources
internal import KeychainModel

/// Bitwarden's and Vaultwarden's JSON exports, plain or protected with a password.
///
/// Source: bitwarden/clients, `libs/tools/export/vault-export`, and Bitwarden's security whitepaper.
package struct BitwardenFormat: ForeignFormat {
    package let name = "bitwarden"
    package let title = "Bitwarden export"

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { Self.recognises($0) }
    }

    /// True if `bytes` begin like such a document.
    static func recognises(_ bytes: borrowing Span<UInt8>) -> Bool {
        let lists = ["items", "folders", "collections"]
        let names = JSONHead.names(["passwordProtected", "encrypted"] + lists, in: bytes)
        if names.contains("passwordProtected") { return true }
        if names.contains("encrypted") { return !names.isDisjoint(with: lists) }
        return names.isSuperset(of: ["folders", "items"])
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        var json = try ForeignJSON(file)
        let isEncrypted = json.root["encrypted"]?.flag == true
        if isEncrypted {
            guard json.root["passwordProtected"]?.flag == true else {
                throw ForeignFailure.refused(
                    title: "a Bitwarden export that only its account opens",
                    hint: "export it again as '.json (Encrypted)', with the type 'Password protected'")
            }
            json = try BitwardenSeal(json).open(secrets)
        }
        var collector = RecordCollector(format: name, date: file.modified)
        try BitwardenVault(json).add(to: &collector, format: name)
        let isOfOrganization = json.root["collections"] != nil
        return try collector.finish(
            details: (isOfOrganization ? "of an organization" : "of a vault") + (isEncrypted ? ", encrypted" : ""),
            isPlaintext: !isEncrypted)
    }
}
