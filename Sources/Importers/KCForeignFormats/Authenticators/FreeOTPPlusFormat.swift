internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The JSON export of FreeOTP+.
///
/// Source: helloworld1/FreeOTPPlus, and what beemdevelopment/Aegis reads.
package struct FreeOTPPlusFormat: ForeignFormat {
    package let kind = ForeignKind.freeOTPPlus

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.bytes.withBytes { bytes in
            let names = JSONHead.names(["tokenOrder", "tokens", "issuerExt"], in: bytes)
            return names.contains("tokenOrder".exact) || names.isSuperset(of: ["tokens", "issuerExt"])
        } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let json = try ForeignJSON(file)
        let collector = RecordCollector(format: name, date: file.modified)
        let tokens = try json.list(json.root["tokens"], required: "its list of tokens")
        let reader = FreeOTPReader(json: json, collector: collector)
        for (index, token) in tokens.enumerated() {
            try collector.record(token, of: json, title: token["issuerExt"], number: index + 1) {
                () throws(ForeignFailure) in try reader.add(token)
            }
        }
        json.skip("tokenOrder", of: json.root)
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: "", isPlaintext: true)
    }
}

/// Reads tokens of FreeOTP and FreeOTP+.
struct FreeOTPReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector

    func add(_ token: ForeignJSON.Value) throws(ForeignFailure) {
        guard token.isObject else { throw .damaged("it is not an object") }
        guard let type = try text(token["type"])?.lowercased() else { throw .damaged("its kind of code is missing") }
        let given = try text(token["issuerInt"])
        let first = try text(token["issuerExt"]) ?? given ?? ""
        // The names that the user gave to a token later.
        let issuer = try text(token["issuerAlt"]) ?? first
        let code = AuthenticatorCode(
            // FreeOTP+ has no type of its own for Steam.
            type: type == "totp" && first.exact == "Steam" ? "steam" : type, algorithm: try text(token["algo"]),
            digits: try json.optionalInteger(token["digits"]), period: try json.optionalInteger(token["period"]),
            counter: try json.optionalInteger(token["counter"]))
        leaveOut("icon", token["image"])
        leaveOut("icon", token["imageAlt"])
        let label = try text(token["label"])
        let user = try text(token["labelAlt"]) ?? label
        try record(of: token, issuer: issuer, user: user, code, seed: try seed(token["secret"])) {
            record throws(ForeignFailure) in
            let others = [given, first].compactMap(\.self).filter { !$0.isEmpty && $0.exact != issuer.exact }
            record.describe("issuer", others.first)
        }
    }

    /// The seed in base32; in the export it is a list of signed bytes.
    private func seed(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        let list = try json.list(value)
        if list.isEmpty { return nil }
        var seed = SecretBytes(capacity: list.count)
        for value in list {
            guard let byte = json.integer(value).flatMap({ Int8(exactly: $0) }) else {
                throw .damaged("its seed is not a list of bytes")
            }
            seed.append(UInt8(bitPattern: byte))
        }
        return seed.withBytes { Base32.encode($0) }
    }
}
