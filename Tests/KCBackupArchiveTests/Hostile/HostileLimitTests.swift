import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCKeychainModel
import Testing

/// The end of a metadata line, with free attributes whose names are three bytes long.
private func extra(_ values: [Int]) -> String {
    let members = values.enumerated().map { index, length in
        "\"\(100 + index)\":\"\(String(repeating: "v", count: length))\""
    }
    return "\"sync\":0},\"extra\":{\(members.joined(separator: ","))}"
}

private func withExtra(_ values: [Int], _ forgery: inout Forgery) {
    forgery.edit("\"acct\":\"ak\"", "\"sync\":0}", extra(values))
}

private let limitCases = join([
    HostileCase.both(
        "a free attribute one byte over its limit, name and value together", .damaged("a free attribute has more than")
    ) {
        withExtra([65_534], &$0)
    },
    HostileCase.both("257 free attributes", .damaged("too many free attributes")) {
        withExtra(Array(repeating: 1, count: 257), &$0)
    },
    HostileCase.both("attributes one byte over their limit together", .damaged("the attributes have more than")) {
        withExtra(valuesThatFill(bytes: 1_048_577), &$0)
    },
    HostileCase.both("damaged over the limit", .damaged("out of range")) {
        $0.recounts = false
        $0.changeSecretsEnd = damagedOverTheLimit
        $0.changeMetadataEnd = damagedOverTheLimit
    },
    HostileCase.both("a date in second 60", .damaged("date")) {
        $0.edit("\"acct\":\"ak\"", "T00:00:01.000000Z\",\"mdat\"", "T00:00:60.000000Z\",\"mdat\"")
    },
    HostileCase.both("a signature over its limit", .limit("SHA256SUMS.sig")) {
        $0.rearrange = { $0[4].bytes += [UInt8](repeating: 10, count: 1_024) }
    },
    [
        HostileCase("1,001 recipients", .limit("recipients")) {
            $0.arrange = { entries in
                entries[1].bytes = repeatingFirstStanza(entries[1].bytes, count: 1_001)
            }
        }
    ],
])

private let damagedOverTheLimit: @Sendable (String) -> String = {
    $0.replacing("\"complete\":true", with: "\"complete\":false")
        .replacing("\"damaged\":0", with: "\"damaged\":10000001")
}

/// The lengths of 17 values that bring an item to `bytes`: two dates and a number of 8 bytes each, its texts, and
/// names.
private func valuesThatFill(bytes: Int) -> [Int] {
    let others = 3 * 8 + "ak".count + "kcbackup".count + "ak".count + "mail".count
    let names = 17 * 3
    let full = Array(repeating: 63_000, count: 16)
    return full + [bytes - others - names - full.reduce(0, +)]
}

/// An age file whose header repeats its first stanza (an argument line and a body line) `count` times.
private func repeatingFirstStanza(_ file: [UInt8], count: Int) -> [UInt8] {
    let lines = file.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
    let stanza = lines[1] + [10] + lines[2] + [10]
    return lines[0] + [10] + (0..<count).flatMap { _ in stanza } + lines[3]
}

private let armorCases = join([
    armored("in lines of 76 characters", width: 76),
    armored("in lines of 64 characters", width: 64),
    armored("in one line", width: 1_000),
    HostileCase.both("signature with CRLF", .damaged("signature does not fit")) {
        $0.rearrange = { $0[4].bytes = $0[4].bytes.flatMap { $0 == 10 ? [13, 10] : [$0] } }
    },
    HostileCase.both("signature without armor", .damaged("signature does not fit")) {
        $0.rearrange = { entries in
            entries[4].bytes = Array(entries[4].bytes.split(separator: 10).dropFirst().dropLast().joined())
        }
    },
    HostileCase.both("signature with a blank line before it", .damaged("signature does not fit")) {
        $0.rearrange = { $0[4].bytes.insert(10, at: 0) }
    },
])

/// The genuine signature with different line breaks, which OpenSSH accepts.
private func armored(_ name: String, width: Int) -> [HostileCase] {
    HostileCase.both("signature \(name)", .damaged("signature does not fit")) {
        $0.rearrange = { entries in
            let lines = entries[4].bytes.split(separator: 10)
            let body = Array(lines.dropFirst().dropLast().joined())
            var text = Array(lines[0])
            for (index, byte) in body.enumerated() {
                if index % width == 0 { text.append(10) }
                text.append(byte)
            }
            entries[4].bytes = text + [10] + Array(lines[lines.count - 1]) + [10]
        }
    }
}

@Suite("Hostile sizes")
struct HostileLimitTests {
    @Test("Anything one over a limit of the format is refused", arguments: limitCases)
    func limits(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("A genuine signature in different armor is refused", arguments: armorCases)
    func armor(_ hostile: HostileCase) throws { try hostile.check() }

    @Test(
        "Attributes exactly at the limits are accepted",
        arguments: [[65_533], Array(repeating: 1, count: 256), valuesThatFill(bytes: 1_048_576)])
    func fits(values: [Int]) throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        withExtra(values, &forgery)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(outcome.error == nil)
        #expect(outcome.read == 6)
    }

    @Test("A thousand recipients, the maximum, are accepted")
    func thousandRecipients() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        let own = forgery.metadataRecipients[0]
        let others = try (0..<999).map { _ in try NativeIdentity.generate(.x25519).recipient }
        forgery.metadataRecipients = others + [own]
        forgery.secretsRecipients = others + [own]
        #expect(try genuine.outcome(of: forgery.bytes()).read == 6)
    }
}
