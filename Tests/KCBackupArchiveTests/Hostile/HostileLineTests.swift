import KCArchiveForgery
import KCBackupArchive
import KCKeychainModel
import Testing

/// The line of the `ak` item in both streams, followed by that of the sealed `aku` item.
private let plainLine = 1
private let sealedLine = 2

private let orderCases = join([
    HostileCase.both("items out of order", .damaged("not in order")) {
        $0.metadata.swapAt(1, 3)
        $0.secrets.swapAt(1, 3)
    },
    HostileCase.both("secrets out of order", .damaged("another item")) { $0.secrets.swapAt(1, 2) },
    HostileCase.both("the same item twice", .damaged("not in order")) {
        $0.metadata.insert($0.metadata[1], at: 1)
        $0.secrets.insert($0.secrets[1], at: 1)
    },
    HostileCase.both("the same unique key twice", .damaged("not in order")) {
        let uuid = "\(ItemUUID())"
        let own = $0.metadata[1].dropFirst(24).prefix(36)
        $0.metadata.insert($0.metadata[1].replacing(own, with: uuid), at: 1)
        $0.secrets.insert($0.secrets[1].replacing(own, with: uuid), at: 1)
    },
    HostileCase.both("the same UUID twice", .damaged("same UUID")) {
        let (first, third) = ($0.metadata[1].dropFirst(24).prefix(36), $0.metadata[3].dropFirst(24).prefix(36))
        $0.metadata[3].replace(third, with: first)
        $0.secrets[3].replace(third, with: first)
    },
    HostileCase.both("no metadata at all", .damaged("without their last line")) {
        $0.metadata = []; $0.recounts = false
    },
    HostileCase.both("no secrets at all", .damaged("without their last line")) {
        $0.secrets = []; $0.recounts = false
    },
    HostileCase.both("metadata without last line", .damaged("without their last line")) { $0.metadata.removeLast() },
    HostileCase.both("secrets without last line", .damaged("without their last line")) { $0.secrets.removeLast() },
    HostileCase.both("metadata without first line", .damaged("does not belong")) { $0.metadata.removeFirst() },
    HostileCase.both("secrets without first line", .damaged("does not belong")) { $0.secrets.removeFirst() },
    HostileCase.both("the last metadata line twice", .damaged("follows the last line")) {
        $0.changeMetadataEnd = { $0 + "\n" + $0 }
    },
    HostileCase.both("the last secrets line twice", .damaged("follows the last line")) {
        $0.changeSecretsEnd = { $0 + "\n" + $0 }
    },
    HostileCase.both("the streams exchanged", .damaged("does not belong")) { swap(&$0.metadata, &$0.secrets) },
    HostileCase.both("one item less in the metadata", .damaged("another item")) { $0.metadata.remove(at: 2) },
    HostileCase.both("one secret less", .damaged("another item")) { $0.secrets.remove(at: 2) },
    HostileCase.both("one secret more", .damaged("is missing")) { $0.secrets.insert($0.secrets[6], at: 6) },
    HostileCase.both("an empty line", .damaged("is missing")) { $0.metadata.insert("", at: 2) },
    HostileCase.both("CRLF", .damaged("something follows")) { $0.metadata[plainLine] += "\r" },
    HostileCase.both("a byte order mark", .damaged("does not belong")) {
        $0.metadata[0] = "\u{feff}" + $0.metadata[0]
    },
])

private func ends(
    _ name: String, _ refusal: HostileCase.Refusal, _ old: String, _ new: String
) -> [HostileCase] {
    HostileCase.both("last line: \(name)", refusal) {
        $0.recounts = false
        $0.changeSecretsEnd = { $0.replacing(old, with: new) }
        $0.changeMetadataEnd = { $0.replacing(old, with: new) }
    }
}

private let changeHash: @Sendable (String, String) -> String = { line, member in
    guard let start = line.firstRange(of: "\"\(member)\":\"")?.upperBound else { return line }
    return line.replacingCharacter(at: start, with: line[start] == "0" ? "1" : "0")
}

private let endCases = join([
    ends("another count", .damaged("number of items"), "\"genp\":6", "\"genp\":5"),
    ends("another class", .damaged("number of items"), "\"genp\":6,\"inet\":0", "\"genp\":5,\"inet\":1"),
    ends("a count of 2^63", .damaged("too large"), "\"genp\":6", "\"genp\":9223372036854775808"),
    ends("a count over the limit", .damaged("out of range"), "\"genp\":6", "\"genp\":10000001"),
    ends("a negative count", .damaged("out of range"), "\"inet\":0", "\"inet\":-1"),
    ends("minus zero", .damaged("shortest form"), "\"inet\":0", "\"inet\":-0"),
    ends("complete although damaged", .damaged("contradicts"), "\"damaged\":0", "\"damaged\":1"),
    ends("incomplete although undamaged", .damaged("contradicts"), "true", "false"),
    ends("another truth", .damaged("is missing"), "true", "1"),
    ends("omitted over the limit", .damaged("out of range"), "\"omitted\":1", "\"omitted\":10000001"),
    ends(
        "members in another order", .damaged("is missing"), ",\"omitted\":1,\"damaged\":0",
        ",\"damaged\":0,\"omitted\":1"),
    HostileCase.both("different counts in the streams", .damaged("different numbers")) {
        $0.changeSecretsEnd = { $0.replacing("\"omitted\":1", with: "\"omitted\":2") }
    },
    HostileCase.both("wrong header hash in the metadata", .damaged("metadata belongs to another header")) {
        $0.changeMetadataEnd = { changeHash($0, "header") }
    },
    HostileCase.both("wrong header hash in the secrets", .damaged("secrets belong to another header")) {
        $0.changeSecretsEnd = { changeHash($0, "header") }
    },
    HostileCase.both("wrong secrets hash", .damaged("belongs to other secrets")) {
        $0.changeMetadataEnd = { changeHash($0, "secrets") }
    },
    HostileCase.both("wrong metadata hash", .damaged("belong to other metadata")) {
        $0.changeSecretsEnd = { changeHash($0, "metadata") }
    },
    HostileCase.both("hash in upper case", .damaged("hexadecimal")) {
        $0.changeMetadataEnd = {
            let start = $0.firstRange(of: "\"secrets\":\"")?.upperBound ?? $0.endIndex
            return String($0[..<start] + $0[start...].uppercased())
        }
    },
])

private func spells(_ name: String, _ refusal: String, _ old: String, _ new: String) -> [HostileCase] {
    HostileCase.both("metadata line: \(name)", .damaged(refusal)) { $0.edit("\"acct\":\"ak\"", old, new) }
}

private let spellingCases = join([
    spells("space", "is missing", "\"svce\":", "\"svce\": "),
    spells(
        "space at the end", "something follows", "\"svce\":\"mail\",\"sync\":0}}", "\"svce\":\"mail\",\"sync\":0}} "),
    spells(
        "attributes in another order", "not in order", "\"svce\":\"mail\",\"sync\":0", "\"sync\":0,\"svce\":\"mail\""),
    spells("attribute twice", "not in order", "\"svce\":\"mail\"", "\"svce\":\"mail\",\"svce\":\"mail\""),
    spells("unknown attribute", "unknown", "\"svce\":\"mail\"", "\"svcf\":\"mail\""),
    spells("attribute of another class", "has no attribute", "\"svce\":\"mail\"", "\"srvr\":\"mail\""),
    spells("text where a number belongs", "whole number|is missing|shortest", "\"sync\":0", "\"sync\":\"0\""),
    spells("number where text belongs", "is missing", "\"svce\":\"mail\"", "\"svce\":1"),
    spells("data where text belongs", "accessibility", "\"pdmn\":\"ak\"", "\"pdmn\":{\"base64\":\"YWs=\"}"),
    spells("leading zero", "shortest form", "\"sync\":0", "\"sync\":00"),
    spells("plus sign", "shortest form", "\"sync\":0", "\"sync\":+0"),
    spells("minus zero", "shortest form", "\"sync\":0", "\"sync\":-0"),
    spells("fraction", "is missing", "\"sync\":0", "\"sync\":0.0"),
    spells("sync neither 0 nor 1", "wrong kind", "\"sync\":0", "\"sync\":2"),
    spells("escape that is not needed", "escape", "\"mail\"", "\"m\\u0061il\""),
    spells("escaped slash", "escape", "\"mail\"", "\"m\\/ail\""),
    spells("short escape", "escape", "\"mail\"", "\"m\\nail\""),
    spells("hexadecimal in upper case", "escape", "\"mail\"", "\"m\\u001Fail\""),
    spells("raw control character", "control", "\"mail\"", "\"m\u{1}ail\""),
    spells("surrogate", "escape", "\"mail\"", "\"m\\ud800ail\""),
    spells("base 64 with unused bits", "base 64", "\"svce\":\"mail\"", "\"svce\":{\"base64\":\"YWt=\"}"),
    spells("base 64 without padding", "base 64", "\"svce\":\"mail\"", "\"svce\":{\"base64\":\"YWs\"}"),
    spells("base 64 with a blank", "base 64", "\"svce\":\"mail\"", "\"svce\":{\"base64\":\"YWs \"}"),
    spells("empty extra", "is missing", "\"sync\":0}", "\"sync\":0},\"extra\":{}"),
    spells("extra out of order", "free attributes", "\"sync\":0}", "\"sync\":0},\"extra\":{\"b\":\"1\",\"a\":\"2\"}"),
    spells("extra twice", "free attributes", "\"sync\":0}", "\"sync\":0},\"extra\":{\"a\":\"1\",\"a\":\"2\"}"),
    spells("date with five digits", "date", ".000000Z\",\"mdat\"", ".00000Z\",\"mdat\""),
    spells("date that does not exist", "date", "\"cdat\":\"2026-01-01", "\"cdat\":\"2026-02-30"),
    spells("year 0", "date", "\"cdat\":\"2026", "\"cdat\":\"0000"),
    spells("no creation date", "is missing", "\"cdat\":\"2026-01-01T00:00:01.000000Z\",", ""),
    spells("no access group", "is missing", "\"agrp\":\"kcbackup\",", ""),
    spells("unknown class", "class is unknown", "\"genp\"", "\"gemp\""),
    spells("another class", "has no attribute", "\"genp\"", "\"inet\""),
    spells("unknown accessibility", "accessibility", "\"pdmn\":\"ak\"", "\"pdmn\":\"zk\""),
    spells(
        "an item that is in no archive", "belongs in no archive|contradict|travel|verdict", "\"pdmn\":\"ak\"",
        "\"pdmn\":\"akpu\""),
    spells("negative size", "negative", "\"size\":12", "\"size\":-12"),
    spells("size beyond the limit", "the secret has more than", "\"size\":12", "\"size\":16777217"),
    spells("size of 2^63", "too large", "\"size\":12", "\"size\":9223372036854775808"),
    HostileCase.both("UUID in upper case", .damaged("UUID")) {
        let own = $0.metadata[1].dropFirst(24).prefix(36)
        $0.metadata[1].replace(own, with: "ABCDEF00" + own.dropFirst(8))
    },
    HostileCase.both("invalid UTF-8", .damaged("UTF-8")) {
        $0.edit("\"acct\":\"ak\"", "\"mail\"", "\"#mail\"")
        $0.compressMetadata = { storedGzip($0.map { $0 == UInt8(ascii: "#") ? 0xff : $0 }) }
    },
    HostileCase.both("verdict class that contradicts the accessibility", .damaged("")) {
        $0.edit("\"acct\":\"aku\"", "this-device", "any-device")
    },
    HostileCase.both("akpu with its verdict class", .damaged("belongs in no archive")) {
        $0.edit("\"acct\":\"aku\"", "this-device", "nowhere")
        $0.edit("\"acct\":\"aku\"", "\"pdmn\":\"aku\"", "\"pdmn\":\"akpu\"")
    },
    HostileCase.both("the mark of a kept state in an archive of a keychain", .damaged("belongs in no archive")) {
        $0.edit(
            "\"acct\":\"ak\"", "\"sync\":0}}",
            "\"sync\":0},\"extra\":{\"kcbackup:attribute:kcbackup:accessible\":\"akpu\"}}")
    },
    HostileCase.both("attribute over the limit", .damaged("has more than")) {
        $0.edit("\"acct\":\"ak\"", "\"mail\"", "\"\(String(repeating: "m", count: 65_537))\"")
    },
])

private let secretCases: [HostileCase] = [
    HostileCase("this-device item in plain", .damaged("in the form")) {
        $0.secrets[sealedLine].replace("\"sealed\"", with: "\"secret\"")
    },
    HostileCase("any-device item sealed", .damaged("in the form")) {
        $0.secrets[plainLine].replace("\"secret\"", with: "\"sealed\"")
    },
    HostileCase("stored in an encrypted archive", .damaged("in the form")) {
        $0.secrets[plainLine].replace("\"secret\"", with: "\"stored\"")
    },
    HostileCase("plain in an unencrypted archive", .unencrypted, .damaged("in the form")) {
        $0.secrets[plainLine].replace("\"stored\"", with: "\"secret\"")
    },
    HostileCase("sealed in an unencrypted archive", .unencrypted, .damaged("in the form")) {
        $0.secrets[sealedLine].replace("\"stored\"", with: "\"sealed\"")
    },
    HostileCase("no secret in an unencrypted archive", .unencrypted, .damaged("in the form")) {
        $0.secrets[plainLine] = String($0.secrets[plainLine].prefix(46) + "}")
    },
    HostileCase("form without a name", .damaged("form of the secret is unknown")) {
        $0.secrets[plainLine] = String($0.secrets[plainLine].prefix(46)) + ",\"\":\"\"}"
    },
    HostileCase("empty form of a secret that is absent", .damaged("form of the secret is unknown")) {
        $0.edit("\"acct\":\"ak\"", "\"size\":12,", "")
        $0.secrets[plainLine] = String($0.secrets[plainLine].prefix(46)) + ",\"\":\"\"}"
    },
    HostileCase("unknown form", .damaged("form of the secret is unknown")) {
        $0.secrets[plainLine].replace("\"secret\"", with: "\"secreu\"")
    },
    HostileCase("size too small", .damaged("stated size")) { $0.edit("\"acct\":\"ak\"", "\"size\":12", "\"size\":11") },
    HostileCase("size too large", .damaged("stated size")) { $0.edit("\"acct\":\"ak\"", "\"size\":12", "\"size\":13") },
    HostileCase("size absent", .damaged("stated size")) { $0.edit("\"acct\":\"ak\"", "\"size\":12,", "") },
    HostileCase("sealed size too large", .damaged("stated size")) {
        $0.edit("\"acct\":\"aku\"", "\"size\":13", "\"size\":14")
    },
    HostileCase("secret absent", .damaged("stated size")) {
        $0.secrets[plainLine] = String($0.secrets[plainLine].prefix(46) + "}")
    },
    HostileCase("secret that is not base 64", .damaged("base 64")) {
        $0.secrets[plainLine].replace("\"secret\":\"", with: "\"secret\":\"!")
    },
    HostileCase("sealed secrets exchanged", .damaged("not genuine")) {
        let (first, second) = ($0.secrets[2], $0.secrets[4])
        $0.secrets[2] = String(first.prefix(47) + second.dropFirst(47))
        $0.secrets[4] = String(second.prefix(47) + first.dropFirst(47))
    },
    HostileCase("sealed secret of a renamed item", .damaged("not genuine")) {
        $0.edit("\"acct\":\"aku\"", "\"mail\"", "\"bank\"")
    },
    HostileCase("sealed secret of a redated item", .damaged("not genuine")) {
        $0.edit("\"acct\":\"aku\"", "\"mdat\":\"2026-01-01", "\"mdat\":\"2026-01-02")
    },
    HostileCase("sealed secret of an item with another accessibility", .damaged("not genuine")) {
        $0.edit("\"acct\":\"aku\"", "\"pdmn\":\"aku\"", "\"pdmn\":\"cku\"")
    },
    HostileCase("sealed secret in another place", .damaged("not genuine")) {
        $0.metadata.remove(at: 1)
        $0.secrets.remove(at: 1)
    },
    HostileCase("no seal", .damaged("is missing")) {
        $0.secrets[0] = $0.secrets[0].replacing(",\"seal\":\"", with: ",\"zeal\":\"")
    },
    HostileCase("a seal that is too short", .damaged("hexadecimal")) {
        $0.secrets[0] = String($0.secrets[0].dropLast(4) + "\"}")
    },
]

@Suite("Hostile lines")
struct HostileLineTests {
    @Test("Streams whose lines do not match are refused", arguments: orderCases)
    func order(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("Last lines with wrong content are refused", arguments: endCases)
    func ends(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("Metadata lines that are noncanonical or do not describe an item are refused", arguments: spellingCases)
    func spelling(_ hostile: HostileCase) throws { try hostile.check() }

    @Test(
        "Unusual but valid attributes are accepted",
        arguments: [
            ("\"mail\"", "\"m\u{7f}il\""), ("\"mail\"", "\"\\u0000\""), ("\"mail\"", "{\"base64\":\"bWFpbA==\"}"),
            ("\"sync\":0}", "\"sync\":0},\"extra\":{\"\":\"\\u0000\",\"a\":\"\",\"aa\":\"\",\"b\":\"\"}"),
            ("\"cdat\":\"2026-01-01T00:00:01.000000Z\"", "\"cdat\":\"0001-01-01T00:00:00.000000Z\""),
        ])
    func accepted(old: String, new: String) throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        forgery.edit("\"acct\":\"ak\"", old, new)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(outcome.error == nil)
        #expect(outcome.read == 6)
    }

    @Test(
        "A UUID of any version is accepted",
        arguments: ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"])
    func anyUUID(_ uuid: String) throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        let own = forgery.metadata[plainLine].dropFirst(24).prefix(36)
        forgery.metadata[plainLine].replace(own, with: uuid)
        forgery.secrets[plainLine].replace(own, with: uuid)
        #expect(try genuine.outcome(of: forgery.bytes()).read == 6)
    }

    @Test("A damage report names the stream, line, item and attribute, and contains no line feed")
    func place() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        forgery.edit("\"acct\":\"ak\"", "\"cdat\":\"2026-01-01", "\"cdat\":\"2026-02-30")
        #expect(
            try genuine.outcome(of: forgery.bytes()).error as? ArchiveFailure
                == .damaged(rule: "line 2 of the metadata: attribute 'cdat': the date is not canonical"))
        forgery = try Forgery(genuine.encrypted)
        let uuid = forgery.metadata[sealedLine].dropFirst(24).prefix(36)
        forgery.edit("\"acct\":\"aku\"", "\"mail\"", "\"bank\"")
        #expect(
            try genuine.outcome(of: forgery.bytes()).error as? ArchiveFailure
                == .damaged(rule: "line 3 of the secrets (genp \(uuid)): a sealed secret is not genuine"))
    }

    @Test("Secrets of the wrong form, size or position are refused", arguments: secretCases)
    func secrets(_ hostile: HostileCase) throws { try hostile.check() }
}

extension String {
    fileprivate func replacingCharacter(at index: Index, with character: Character) -> String {
        var copy = self
        copy.replaceSubrange(index...index, with: String(character))
        return copy
    }
}
