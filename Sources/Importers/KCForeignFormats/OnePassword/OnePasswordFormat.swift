internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// 1PUX, the unencrypted export of 1Password: a zip file of JSON and attachments.
///
/// Source: 1Password's documentation of the format, version 3.
package struct OnePasswordFormat: ForeignFormat {
    package let kind = ForeignKind.onePassword

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        try ForeignZip.names(in: input)?.contains("export.data".exact) == true
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let zip = try ForeignZip(file) {
            ["export.attributes", "export.data"].contains($0.exact) || $0.exact.hasPrefix("files/")
        }
        let version = try zip.json("export.attributes")
        guard let number = version.integer(version.root["version"]) else {
            throw ForeignFailure.damaged("its version is missing")
        }
        guard number == 3 else { throw ForeignFailure.unknownVariant("version \(number)") }
        let json = try zip.json("export.data")
        let collector = RecordCollector(format: name, date: file.modified)
        let accounts = try json.list(json.root["accounts"], required: "its list of accounts")
        var reader = OnePasswordReader(json: json, zip: zip, collector: collector)
        for account in accounts {
            for vault in try json.list(account["vaults"], required: "a list of vaults") { try reader.add(vault) }
            // They describe the account, not records.
            json.skip("attrs", of: account)
        }
        collector.leaveOut(unknown: json.unread)
        zip.countRest(in: collector)
        let count = accounts.count
        return try collector.finish(details: count == 1 ? "" : "\(count) accounts", isPlaintext: true)
    }
}
